/** A ring of frames against a list: whatever is written and read in whatever order, with positions about to wrap. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeRing, RingReader, RingWriter } from '#threads/ring.ts';
import { fc } from '../property.ts';

const CAPACITY = 1_024;

/** A ring whose positions stand so many bytes before they wrap at 2^32. */
function ringBefore(bytes: number): { readonly writer: RingWriter; readonly reader: RingReader } {
  const memory = makeRing(CAPACITY);
  const words = new Int32Array(memory);
  words[0] = -bytes;
  words[16] = -bytes;
  return { writer: new RingWriter(memory), reader: new RingReader(memory) };
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), text: fc.string({ unit: 'grapheme', maxLength: 60 }) }),
  fc.record({ kind: fc.constant('publish' as const) }),
  fc.record({ kind: fc.constant('drain' as const), framesMax: fc.integer({ min: 1, max: 20 }) }),
);

describe('A ring of frames', () => {
  it('hands over what was published, in order, each frame once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.integer({ min: 0, max: 4_096 }), (steps, left) => {
        const { writer, reader } = ringBefore(left * 4);
        const unread: (readonly [number, string])[] = [];
        let published = 0;
        let number = 0;
        for (const each of steps) {
          if (each.kind === 'write') {
            const outcome = writer.write(++number, each.text);
            assert.notEqual(outcome, 'TOO_LONG');
            if (outcome === 'WRITTEN') unread.push([number, each.text]);
            // What is written already has to be read before there is room.
            else published = unread.length;
          } else if (each.kind === 'publish') {
            assert.equal(writer.publish(), unread.length > published);
            published = unread.length;
          } else {
            assert.equal(reader.hasFrames, published > 0);
            const expected = unread.splice(0, Math.min(published, each.framesMax));
            published -= expected.length;
            const taken: (readonly [number, string])[] = [];
            reader.drain(each.framesMax, (taken_, text) => taken.push([taken_, text]));
            assert.deepEqual(taken, expected);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('takes no frame without room, tells the reader that the writer waits, and takes it when there is room again', () => {
    const { writer, reader } = ringBefore(64);
    const text = 'x'.repeat(200);
    let written = 0;
    while (writer.write(written, text) === 'WRITTEN') written += 1;
    assert.ok(written >= 3);
    assert.equal(writer.hasRoomFor(text), false);
    assert.equal(
      reader.drain(2, () => {}),
      true,
    );
    assert.equal(writer.hasRoomFor(text), true);
    assert.equal(writer.write(written, text), 'WRITTEN');
    assert.equal(
      reader.drain(1, () => {}),
      false,
      'nobody waits any more',
    );
  });

  it('has room for each text of up to a quarter of it, and for no longer one', () => {
    const { writer, reader } = ringBefore(0);
    for (let n = 0; n < 20; n += 1) {
      assert.equal(writer.write(n, 'x'.repeat(CAPACITY / 4 - 8)), 'WRITTEN');
      writer.publish();
      reader.drain(1, () => {});
      assert.equal(writer.write(n, ''), 'WRITTEN');
      writer.publish();
      reader.drain(1, () => {});
    }
    assert.equal(writer.write(1, 'x'.repeat(CAPACITY / 4 - 7)), 'TOO_LONG');
  });
});
