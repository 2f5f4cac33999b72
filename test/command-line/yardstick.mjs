/**
 * A fixed piece of work of the sort that a demo does (objects read, sorted, written, digested), and nothing of ours: how
 * long it takes says how fast this machine is now. About a second of processor time where the demo takes four and a half.
 */
import { hash } from 'node:crypto';

const object = (n) => ({
  metadata: { name: `object-${n}`, labels: { app: `app-${n % 7}`, instance: `i-${n % 13}` } },
  spec: {
    containers: Array.from({ length: 5 }, (_, i) => ({
      name: `c${i}`,
      args: [`--number=${n * i}`, 'x'.repeat(n % 50)],
    })),
  },
});
const sorted = (value) =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, sorted(value[key])]),
        )
      : value;

const store = new Map();
for (let round = 0; round < 55_000; round++) {
  const text = JSON.stringify(sorted(object(round)));
  store.set(hash('sha256', text), JSON.parse(text));
}
if (store.size !== 55_000) throw new Error(`${store.size} objects`);
