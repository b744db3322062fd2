/** The text of a tallied histogram is the one that prom-client's own histogram gives of the same observations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from '@platformatic/prom-client';
import { TalliedHistogram } from '#http/metrics/tallied-histogram.ts';
import { fc } from '../../property.ts';

const BUCKETS = [0.0005, 0.001, 0.01, 1, 2.5];
const OPTIONS = { name: 'request_seconds', help: 'How long.\nWith "quotes".', buckets: BUCKETS };

const labels = fc.record({
  method: fc.constantFrom('GET', 'POST'),
  route: fc.constantFrom('/a/:id', '/a"b\\c', 'none'),
  status: fc.constantFrom('', '2xx', '4xx'),
});
const seconds = fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 4, noNaN: true }));

test('the text equals that of prom-client for the same observations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(labels, seconds), { maxLength: 60 }), async (observations) => {
      const [expected, tallied] = [new Registry(), new Registry()];
      const model = new Histogram({ ...OPTIONS, labelNames: ['method', 'route', 'status'], registers: [expected] });
      const histogram = new TalliedHistogram({ ...OPTIONS, registers: [tallied] });
      for (const [each, value] of observations) {
        model.observe(each, value);
        histogram.series(each).observe(value);
      }
      assert.equal(await tallied.metrics(), await expected.metrics());
      assert.equal(await Registry.merge([tallied]).metrics(), await expected.metrics(), 'read twice, and merged');
    }),
  );
});
