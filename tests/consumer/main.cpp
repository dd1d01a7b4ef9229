// A user's program in C++; see main.c.
#include <xir/xir.h>

#include <iostream>
#include <string>

int main()
{
    const std::string version = xir_version(), expected = EXPECTED;

    std::cout << "C++: " << version << "\n";
    return version.compare(0, expected.size(), expected) != 0;
}
