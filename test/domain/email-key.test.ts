/** Which e-mail addresses count as one buyer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emailKey } from '#domain/email-key.ts';
import { anyText, fc } from '../property.ts';

const SAME: Readonly<Record<string, readonly string[]>> = {
  'ada@example.com': [
    ' ADA@Example.COM\t',
    'ada+vip@example.com',
    'Ada+a+b@example.com',
    'ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ',
    'a\u00adda@example.com',
    '\u200bada@exam\u200dple.com\ufeff',
    'ad\u034fa@example.com',
    'ada\ufe0f＋x@example.com',
    '\u2060a\u180eda@example.com\u2800',
    'a\u{e0041}da@example.com',
    'a\u0007da@example.com',
  ],
  'strasse@example.com': ['STRASSE@example.com', 'straße@example.com', 'STRAẞE@example.com', 'ſtraſſe@example.com'],
  'οδοσ@example.gr': ['ΟΔΟΣ@example.gr', 'οδος@EXAMPLE.gr', 'οδος+x@example.gr'],
  'finn@example.com': ['ﬁnn@example.com'],
  'kim@example.com': ['\u212aim@example.com'],
  'é@example.com': ['e\u0301@example.com', 'É@example.com', 'E\u0301@example.com'],
};

const APART = [
  'ada@example.com',
  'adam@example.com',
  'ada@example.org',
  'a.da@example.com',
  '+ada@example.com',
  'ışık@example.com',
  'işik@example.com',
];

describe('Two addresses', () => {
  it('are one buyer’s whatever their case, width, tags and invisible characters', () => {
    for (const [address, others] of Object.entries(SAME)) {
      for (const other of others) assert.equal(emailKey(other), emailKey(address), JSON.stringify(other));
    }
  });

  it('are two buyers’ when a reader can tell them apart', () => {
    assert.equal(new Set(APART.map(emailKey)).size, APART.length);
  });

  it('are compared by a key that is its own key', () => {
    const part = anyText({ minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(part, part, (name, domain) => {
        const key = emailKey(`x${name}@${domain}`);
        assert.equal(emailKey(key.toUpperCase()), emailKey(key));
      }),
    );
  });
});
