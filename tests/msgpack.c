/* MessagePack of networks that are right. */
#include <math.h>
#include "support/msgpack_net.h"
#include "support/scratch.h"

static void small_networks_come_back(void **state) {
    (void)state;
    check_packs(SMALL, strlen(SMALL));
    static const char empty[] = NETWORK_OF("3.33.1.0", "");
    check_packs(empty, strlen(empty));
    static const char least[] = "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[],\"tags\":{}}";
    check_packs(least, strlen(least));
}

static void real_files_come_back(void **state) {
    (void)state;
    static const char *const files[] = { "superpoint_test_softmax_BY", "yolov5s_plin_352x640_ZG" };
    const char *corpus = getenv("XIR_CORPUS");
    if (!corpus) skip();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/icraft/%s.json", corpus, files[i]);
        size_t size = 0;
        char *text = (char *)scratch_get(path, &size);
        assert_non_null(text);
        check_packs(text, size);
        free(text);
    }
}

static void random_networks_come_back(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        paper p = random_network(8);
        check_packs(p.data, p.size);
        free(p.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_networks_come_back),
        cmocka_unit_test(real_files_come_back),
        cmocka_unit_test(random_networks_come_back),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
