# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Words in DejaVu Sans as images of 3 x 48 x 192 for a network that tells which way up a text is:
words.py OUT.npy COUNT SEED LABELS.npy. Each second one is turned by half a circle. Needs python3-pil, python3-numpy and
fonts-dejavu-core."""

import random
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFont

HEIGHT, WIDTH = 48, 192
FONTS = [f"/usr/share/fonts/truetype/dejavu/DejaVu{name}.ttf" for name in ("Sans", "Sans-Bold", "SansMono", "Serif")]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def word(rng):
    text = "".join(rng.choice(LETTERS) for _ in range(rng.randint(4, 9)))
    font = ImageFont.truetype(rng.choice(FONTS), rng.randint(28, 40))
    left, top, right, bottom = font.getbbox(text)
    back, front = rng.randint(170, 255), rng.randint(0, 90)
    margin = rng.randint(3, 8)
    image = Image.new("RGB", (right - left + 2 * margin, bottom - top + 2 * margin), (back, back, back))
    ImageDraw.Draw(image).text((margin - left, margin - top), text, font=font, fill=(front, front, front))
    return image


def array(image):
    """The height is 48; what is left of the width is 0, as the network was trained."""
    width = min(WIDTH, max(1, round(image.width * HEIGHT / image.height)))
    pixels = np.asarray(image.resize((width, HEIGHT), Image.BILINEAR), dtype="f4") / 127.5 - 1
    out = np.zeros((3, HEIGHT, WIDTH), "f4")
    out[:, :, :width] = pixels.transpose(2, 0, 1)
    return out


def main(out, count, seed, labels):
    rng = random.Random(int(seed))
    turned = [i % 2 for i in range(int(count))]
    images = [word(rng) for _ in turned]
    np.save(out, np.stack([array(i.transpose(Image.ROTATE_180) if t else i) for i, t in zip(images, turned)]))
    np.save(labels, np.array(turned, "i8"))


main(*sys.argv[1:])
