import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { brandOf, styleNamed, styleOf } from '#brand/brand.ts';
import { CONTRAST_MIN, isReadable, leastContrast, neutralAccent, readable } from '#brand/colours.ts';
import { contrast } from '#client/contrast.ts';
import { fc } from '../property.ts';

const colour = fc.nat(0xffffff).map((number) => `#${number.toString(16).padStart(6, '0')}`);
const scheme = fc.constantFrom('light' as const, 'dark' as const);

const tokens = readFileSync(new URL('../../src/web/styles/tokens.css', import.meta.url), 'utf8');
/** The values of a scheme by the style sheet itself. */
const tokenOf = (name: string, of: 'light' | 'dark'): string =>
  Array.from(tokens.matchAll(new RegExp(`--${name}: (#\\w+);`, 'g')), ([, value]) => value!)[of === 'light' ? 0 : 1]!;

const valueIn = (style: string, name: string): string => new RegExp(`--${name}:([^;]+);`).exec(style)![1]!;

describe('An accent', () => {
  it('is readable exactly where it has 4.5 : 1 with every ground and with the text on it', () => {
    fc.assert(
      fc.property(colour, scheme, (accent, of) => {
        const grounds = ['paper', 'surface', 'sunken'].map((name) => contrast(accent, tokenOf(name, of)));
        const ink = Math.max(contrast(accent, '#ffffff'), contrast(accent, '#101010'));
        assert.equal(leastContrast(accent, of).ratio, Math.min(...grounds, ink));
        assert.equal(isReadable(accent, of), Math.min(...grounds, ink) >= CONTRAST_MIN);
      }),
    );
  });

  it('stays as it is where it is readable, and is made readable where it is not', () => {
    fc.assert(
      fc.property(colour, scheme, (accent, of) => {
        const made = readable(accent, of);
        assert.ok(isReadable(made, of), `${accent} became ${made}`);
        if (isReadable(accent, of)) assert.equal(made, accent);
      }),
    );
  });

  it('makes buttons, soft grounds and what is under a pointer readable too', () => {
    fc.assert(
      fc.property(colour, scheme, (any, of) => {
        const accent = readable(any, of);
        const other = of === 'light' ? { accent, accentDark: '#e8b84a' } : { accent: '#0b5a52', accentDark: accent };
        const style = styleOf({ ...other, scheme: 'AUTO' }).split('@media')[of === 'light' ? 0 : 1]!;
        const [ink, hover, soft] = ['accent-ink', 'accent-hover', 'accent-soft'].map((name) => valueIn(style, name));
        for (const [text, ground] of [
          [ink!, accent],
          [ink!, hover!],
          [accent, soft!],
          [tokenOf('ink', of), soft!],
          [tokenOf('ink-quiet', of), soft!],
          [hover!, tokenOf('surface', of)],
          [hover!, tokenOf('sunken', of)],
        ] as const) {
          assert.ok(contrast(text, ground) >= CONTRAST_MIN, `${text} on ${ground}: ${contrast(text, ground)}`);
        }
      }),
    );
  });
});

describe('The brand of an event', () => {
  const service = {
    name: 'Theatre',
    accent: '#0b5a52',
    accentDark: '#7fd3c4',
    scheme: 'DARK',
    support: 'a@theatre.example',
    links: [{ label: { en: 'Imprint' }, url: 'https://theatre.example/imprint' }],
    credit: true,
  } as const;

  it('is neutral without any: no name, no style sheet, and nothing of the software', () => {
    assert.deepEqual(brandOf(null), {
      name: null,
      logo: null,
      accent: neutralAccent('light'),
      accentDark: neutralAccent('dark'),
      scheme: 'AUTO',
      support: null,
      links: [],
      credit: false,
      style: null,
    });
    assert.deepEqual(brandOf(null, { slug: 'x' }), brandOf(null));
  });

  it('takes each field of its own before that of the service', () => {
    const brand = brandOf(service, { slug: 'guests', brand: { name: 'Guests', credit: false } });
    assert.deepEqual(brand, { ...brandOf(service), name: 'Guests', credit: false });
  });

  it('takes both accents from one of the two', () => {
    const { accent, accentDark } = brandOf(service, { slug: 'guests', brand: { accent: '#7A1F2B' } });
    assert.equal(accent, '#7a1f2b');
    assert.equal(accentDark, readable('#7a1f2b', 'dark'));
  });

  it('has its logo at an address that changes with it', () => {
    const [one, other] = ['aaaa', 'bbbb'].map((text) => `data:image/png;base64,${text}`) as [string, string];
    const logoOf = (brand: object, own?: object) =>
      brandOf(brand, own === undefined ? null : { slug: 'x y', brand: own }).logo;
    assert.match(logoOf({ logo: one })!, /^\/brand\/logo-[\w-]{16}\.png$/);
    assert.notEqual(logoOf({ logo: one }), logoOf({ logo: other }));
    assert.equal(logoOf({ logo: one }, {}), logoOf({ logo: one }));
    assert.match(logoOf({ logo: one }, { logo: other })!, /^\/brand\/events\/x%20y\/logo-[\w-]{16}\.png$/);
  });
});

describe('A style sheet', () => {
  it('is found by the name that a brand has it under, with its scheme and both accents', () => {
    fc.assert(
      fc.property(colour, fc.constantFrom('AUTO' as const, 'LIGHT' as const, 'DARK' as const), (accent, of) => {
        const { style, ...brand } = brandOf({ accent: readable(accent, 'light'), scheme: of });
        if (style === null) return;
        assert.equal(styleNamed(style.replace('/brand/', '')), styleOf(brand));
      }),
    );
  });

  it('sets every value of the scheme that it asks for, on screens alone', () => {
    const style = styleOf({ accent: '#0b5a52', accentDark: '#7fd3c4', scheme: 'DARK' });
    const [paper, screen] = style.split('@media screen');
    assert.ok(!paper!.includes('--paper'), paper);
    for (const name of ['paper', 'surface', 'ink', 'shadow', 'hue-olive'])
      assert.match(screen!, new RegExp(`--${name}:`));
    assert.equal(valueIn(screen!, 'paper'), tokenOf('paper', 'dark'));
  });

  it('is not there under any other name, nor for colours that nobody can read', () => {
    for (const name of [
      '',
      'auto-0b5a52.css',
      'auto-0b5a52-zzzzzz.css',
      'auto-ffffff-7fd3c4.css',
      'dark-0b5a52-000000.css',
    ])
      assert.equal(styleNamed(name), null, name);
  });
});
