import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { StoredObject } from '../objects/objects.ts';
import { Site, setUp, site } from '../testing/sites.ts';

/** An API server reads 10,000, which is too much for a process; threads, as of tests, have several times its stack. */
const levels = 100_000;

/** The site `deep` has a field without a schema, and in it what a user likes. */
function deepened(object: StoredObject): StoredObject {
  if (object.metadata.name !== 'deep') return object;
  const option: unknown = JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  return { ...object, spec: { ...(object['spec'] as object), option } };
}

test.each([true, false])('an object that is nested deeply harms no other (list as a stream: %s)', async (streams) => {
  const { server, stop, lines, passes, start, settle } = setUp(async ({ object }) => {
    // As recursive readers do.
    JSON.stringify(object);
    isDeepStrictEqual(object, structuredClone(object));
  });
  const plain = { ...server.client };
  Object.assign(server, { streams });
  server.client.list = async (kind, options) => {
    const { items, ...rest } = await plain.list(kind, options);
    return { ...rest, items: items.map(deepened) as typeof items };
  };
  server.client.watch = async function* (kind, options) {
    for await (const event of plain.watch(kind, options)) {
      yield event.type === 'BOOKMARK' ? event : { ...event, object: deepened(event.object) as typeof event.object };
    }
  };
  server.put(Site, site('deep'));
  server.put(Site, site('other'));
  const running = start();
  await settle();
  expect(passes.sort()).toEqual(['ns/deep', 'ns/other']);
  passes.length = 0;
  server.put(Site, site('deep', { pages: 1 }));
  server.put(Site, site('other', { pages: 1 }));
  await settle();
  expect(passes.sort()).toEqual(['ns/deep', 'ns/other']);
  expect(lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  stop.abort();
  await running;
});
