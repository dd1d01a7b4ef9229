// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Colours, light and dark. The style sheet and the canvas use the same ones. Texts have a contrast of 4.5 and more on
// every ground that they stand on; tests/view/run.mjs computes it.

const THEMES = {
    light: {
        back: '#f6f6f4', card: '#ffffff', text: '#1e2226', dim: '#5a616b', line: '#dededa', hover: '#efefec',
        select: '#dbe7fb', accent: '#2a62d4', link: '#1d55c0', shadow: 'rgba(25,28,38,.20)', mark: '#d98a00',
        box: '#ffffff', rim: '#cbced3', edge: '#b0b6bf', group: 'rgba(40,50,70,.035)',
        groupRim: '#d5d7da', folded: '#eceef1', stack: '#b9bec6',
        families: ['#8b929b', '#4a5460', '#2f6fd0', '#2e9150', '#0f8a8a', '#c2497c', '#c98a1b', '#7a5cc7', '#c4553f',
                   '#8a6d52'],
        heat: ['#fdf3d8', '#fbd893', '#f6a955', '#e56b3c', '#bf3031', '#7d1431'],
        removed: '#b3342b', added: '#1c7a3c', moved: '#6c48b0', changed: '#8a5500',
    },
    dark: {
        back: '#15171a', card: '#1d2024', text: '#e7e9ec', dim: '#a3abb6', line: '#33383f', hover: '#2a2e34',
        select: '#223658', accent: '#78a6ff', link: '#8db6ff', shadow: 'rgba(0,0,0,.55)', mark: '#f0b429',
        box: '#23272c', rim: '#434a53', edge: '#5b646f', group: 'rgba(200,215,240,.035)',
        groupRim: '#3a4048', folded: '#2b3037', stack: '#565f6a',
        families: ['#7d8691', '#aab4c0', '#6b9df0', '#5fbd7c', '#3fb8b5', '#e07fa8', '#d9a548', '#a78bea', '#ea7d6c',
                   '#b99a7c'],
        heat: ['#2b2a33', '#4b2f45', '#84384f', '#c0504a', '#ea8a48', '#fbd58a'],
        removed: '#ff8f85', added: '#63cf8b', moved: '#b99cf2', changed: '#e3ab4f',
    },
};

// The kinds of operations, in the order of draw_colour in src/draw/picture.h.
const FAMILIES = ['Other', 'Input and output', 'Linear', 'Activation', 'Normalisation', 'Pooling', 'Elementwise',
                  'Shape', 'Reduction', 'Quantisation'];

const theme = { dark: false, ...THEMES.light };
const darkWanted = matchMedia('(prefers-color-scheme: dark)');
const still = matchMedia('(prefers-reduced-motion: reduce)');

const setTheme = (dark) => {
    Object.assign(theme, dark ? THEMES.dark : THEMES.light, { dark });
    theme.tints = theme.families.map((colour) => mix(theme.box, colour, dark ? 0.14 : 0.09));
    theme.differs = CHANGES.map((row) => mix(theme.box, theme[row[1]], dark ? 0.14 : 0.13));
    const style = document.documentElement.style;
    style.colorScheme = dark ? 'dark' : 'light';
    for (const [key, value] of Object.entries(theme)) {
        if (typeof value === 'string') style.setProperty('--' + key, value);
    }
    $('theme').setAttribute('aria-pressed', String(dark));
};

// Of an op that moved and changed it is the change that counts.
const changeIndex = (bits) => bits & 1 ? 0 : bits & 2 ? 1 : bits & 8 ? 3 : 2;
const changeColour = (bits) => theme[CHANGES[changeIndex(bits)][1]];

// The red, green and blue of a colour '#rrggbb'.
const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const mix = (a, b, share) => {
    const [x, y] = [parts(a), parts(b)];
    return '#' + x.map((v, i) => Math.round(v + (y[i] - v) * share).toString(16).padStart(2, '0')).join('');
};
const luminance = (colour) => {
    const [r, g, b] = parts(colour).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
// Black or white, whichever is easier to read on a ground.
const inkOn = (ground) => (luminance(ground) > 0.179 ? '#000000' : '#ffffff');
