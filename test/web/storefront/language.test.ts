import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { languageOf } from '#texts/locale/language.ts';
import { wordingOf } from '#texts/locale/wording.ts';

describe('The language of somebody', () => {
  it('is the first that there is, whatever its region', () => {
    assert.equal(languageOf(['de-AT', 'en']), 'de');
    assert.equal(languageOf(['fr-FR', 'de', 'en']), 'de');
    assert.equal(languageOf([null, 'EN-us', 'de']), 'en');
    assert.equal(languageOf(['de-CH-1996']), 'de');
  });

  it('is read from a header by falling quality, as browsers send it', () => {
    assert.equal(languageOf('de-DE,de;q=0.9,en;q=0.8'), 'de');
    assert.equal(languageOf('en;q=0.4, de;q=0.9'), 'de');
    assert.equal(languageOf('de;q=0, en'), 'en');
    assert.equal(languageOf('fr, nl;q=0.9, de; q=0.2'), 'de');
  });

  it('is English for whoever reads none of them, and for what is no preference', () => {
    for (const header of [undefined, '', '*', 'fr', 'toString', ';;;,,,q=', 'de;q=x', `${'x,'.repeat(2_000)}de`, []]) {
      assert.equal(languageOf(header), 'en', String(header).slice(0, 20));
    }
  });
});

describe('The wording of a language', () => {
  it('writes money, dates, numbers and lists as its readers do', () => {
    const [en, de] = [wordingOf('en'), wordingOf('de')];
    const moment = '2028-09-23T18:30:00Z';
    assert.equal(en.shortMoney(4_500, 'EUR'), '€45');
    assert.equal(de.shortMoney(4_550, 'EUR'), '45,50\u00a0€');
    assert.equal(en.dayAndHour(moment, 'Europe/Berlin'), 'Sat, 23 September 2028, 20:30');
    assert.equal(de.dayAndHour(moment, 'Europe/Berlin'), 'Sa., 23. September 2028, 20:30');
    assert.equal(de.dayParts(moment, 'Europe/Berlin').day, '23');
    assert.equal(de.days('2028-10-14T10:00Z', '2028-11-11T10:00Z'), '14. Oktober\u2009–\u200911. November 2028');
    assert.equal(de.number(12_000), '12.000');
    assert.equal(en.count(1, { one: 'seat', other: 'seats' }), '1 seat');
    assert.equal(de.count(2_000, { one: 'Platz', other: 'Plätze' }), '2.000 Plätze');
    assert.equal(de.listing(['A', 'B', 'C']), 'A, B und C');
  });
});
