/** Numbers that people tell: what a slip of the ear or the hand makes of one, and whose they are. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { numberOf, readNumber } from '#domain/orders/told-numbers.ts';
import { fc } from '../../property.ts';

const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const ids = fc.string({ minLength: 1, maxLength: 40 });
/** The places of a number's characters. */
const places = fc.constantFrom(3, 4, 5, 6, 8, 9, 10);

function withCharacter(number: string, place: number, character: string): string {
  return number.slice(0, place) + character + number.slice(place + 1);
}

describe('A number to tell', () => {
  it('is four and three characters of the alphabet, and the same whenever it is asked for', () => {
    fc.assert(
      fc.property(ids, (id) => {
        assert.match(numberOf(id), /^HF-[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{3}$/);
        assert.equal(numberOf(id), numberOf(id));
      }),
    );
  });

  it('stays what it was when ids were first numbered', () => {
    assert.equal(numberOf('tkt_1_AAAAAAAAAAAAAAAAAAAAAAAA'), 'HF-JCGN-ACF');
    assert.equal(numberOf('ord_zz_abcdefghijklmnopqrstuvwx'), 'HF-YGDP-Y92');
  });

  it('is read in small letters, with spaces and without signs', () => {
    fc.assert(
      fc.property(ids, fc.constantFrom('', ' ', '-', ' - '), (id, sign) => {
        const number = numberOf(id);
        assert.equal(readNumber(` ${number.toLowerCase().replaceAll('-', sign)} `), number);
      }),
    );
  });

  it('is WRONG with any one character exchanged', () => {
    fc.assert(
      fc.property(ids, places, fc.constantFrom(...ALPHABET, 'I', 'O', '0', '1'), (id, place, character) => {
        const number = numberOf(id);
        fc.pre(number[place] !== character);
        assert.equal(readNumber(withCharacter(number, place, character)), 'WRONG');
      }),
    );
  });

  it('is WRONG with any two different characters swapped, neighbours or not', () => {
    fc.assert(
      fc.property(ids, places, places, (id, one, other) => {
        const number = numberOf(id);
        fc.pre(number[one] !== number[other]);
        const swapped = withCharacter(withCharacter(number, one, number[other]!), other, number[one]!);
        assert.equal(readNumber(swapped), 'WRONG');
      }),
    );
  });

  it('is not seen in other texts', () => {
    for (const text of ['', 'Ada Lovelace', 'HF', 'HF-7K3M', 'HF-7K3M-9QXX', 'XF-7K3M-9QX', 'ada@example.com'])
      assert.equal(readNumber(text), null);
  });

  it('is shared by as many ids as its 30 bits let expect', () => {
    const count = 100_000;
    const numbers = new Set(
      Array.from({ length: count }, (_, at) => numberOf(`tkt_1_${at.toString(36).padStart(24, 'A')}`)),
    );
    // 4.7 pairs are expected; more than 20 happen by chance once in 10⁷ sets.
    assert.ok(count - numbers.size <= 20, `${count - numbers.size} pairs`);
  });
});
