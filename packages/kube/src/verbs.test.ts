import { expect, test } from 'vitest';
import { controllerReference, type StoredObject } from './objects.ts';
import { ForeignObjectError } from './ownership.ts';
import { Page, page, Site, setUp, site } from './test-sites.ts';

test('what is stated is made, put right, and told; a settled system writes nothing', async () => {
  const { clock, server, stop, start, settle, runtime } = setUp(async ({ object, apply, remove, cache, status }) => {
    const wanted = object.spec.pages ?? 0;
    for (let i = 0; i < wanted; i++) await apply(page(`${object.metadata.name}-${i}`, { text: 'hello' }));
    const mine = cache.byIndex(Page, 'controller', object.metadata.uid);
    for (const extra of mine.filter(({ metadata }) => Number(metadata.name.split('-')[1]) >= wanted)) {
      await remove(extra);
    }
    await status({ pages: wanted });
  });
  server.put(Site, site('a', { pages: 2 }));
  const running = start();
  await settle();
  const owner = server.peek(Site, 'ns/a') as StoredObject<Site>;
  expect(server.peek(Page, 'ns/a-1')).toMatchObject({
    data: { text: 'hello' },
    metadata: { ownerReferences: [controllerReference(owner)] },
  });
  expect(owner.status).toEqual({ pages: 2 });

  server.put(Page, { ...(server.peek(Page, 'ns/a-0') as Page), data: { text: 'by hand' } });
  server.remove(Page, 'ns/a-1');
  await settle();
  expect(server.peek(Page, 'ns/a-0')?.data).toEqual({ text: 'hello' });
  expect(server.peek(Page, 'ns/a-1')?.data).toEqual({ text: 'hello' });

  server.put(Site, { ...(server.peek(Site, 'ns/a') as Site), spec: { pages: 1 } });
  await settle();
  expect(server.all(Page).map(({ metadata }) => metadata.name)).toEqual(['a-0']);
  expect(server.peek(Site, 'ns/a')?.status).toEqual({ pages: 1 });

  const writes = server.writes.filter(({ verb }) => verb === 'apply status').length;
  runtime().resync();
  await settle();
  expect(server.writes.filter(({ verb }) => verb === 'apply status')).toHaveLength(writes);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});

test('an object of somebody else is left alone, and the error names who has it', async () => {
  const errors: unknown[] = [];
  const { server, stop, start, settle } = setUp(async ({ apply, create }) => {
    for (const [verb, name] of [
      [apply, 'theirs'],
      [create, 'theirs'],
      [apply, 'unseen'],
      [create, 'loose'],
    ] as const) {
      await verb(page(name, { mine: 'yes' })).catch((error: unknown) => errors.push(error));
    }
  });
  const other = server.put(Site, site('other'));
  server.put(Page, {
    ...page('theirs'),
    metadata: { namespace: 'ns', name: 'theirs', ownerReferences: [controllerReference(other)] },
  });
  server.put(Page, { ...page('loose'), metadata: { ...page('loose').metadata, managedFields: [{ manager: 'helm' }] } });
  server.remove(Site, 'ns/other');
  server.put(Site, site('a'));
  server.intercept = async ({ verb, key }) => {
    // Comes while the first request about it is on its way: no cache knows it.
    if (verb === 'get' && key === 'ns/unseen' && !server.peek(Page, key)) server.put(Page, page('unseen'));
  };
  const running = start();
  await settle();
  expect(errors.slice(0, 4).every((error) => error instanceof ForeignObjectError)).toBe(true);
  const holders = errors.slice(0, 4).map((error) => (error as ForeignObjectError).holder);
  expect(holders).toEqual([
    `belongs to Site other (uid ${other.metadata.uid})`,
    `belongs to Site other (uid ${other.metadata.uid})`,
    'has no controlling owner',
    'has no controlling owner',
  ]);
  expect(server.writes.filter(({ verb }) => verb === 'apply')).toEqual([]);
  expect(server.all(Page).some((stored) => stored['data'] !== undefined && 'mine' in (stored['data'] as object))).toBe(
    false,
  );
  stop.abort();
  await running;
});

test('an object that vanished is not made anew by accident, but by the next pass', async () => {
  let first = true;
  const { server, stop, lines, start, settle } = setUp(async ({ apply, cache }) => {
    if (first && cache.get(Page, 'ns/x')) {
      first = false;
      server.loses = () => true;
      server.remove(Page, 'ns/x');
    }
    await apply(page('x', { made: first ? 'first' : 'again' }));
  });
  server.put(Site, site('a'));
  const running = start();
  await settle();
  expect(lines.some(({ message }) => message.includes('conflict'))).toBe(true);
  expect(server.peek(Page, 'ns/x')).toBeUndefined();
  server.loses = () => false;
  server.expire();
  await settle();
  expect(server.peek(Page, 'ns/x')?.data).toEqual({ made: 'again' });
  stop.abort();
  await running;
});

test('an object that was made anew by somebody else meanwhile is not taken over', async () => {
  let again = false;
  const errors: unknown[] = [];
  const { server, stop, lines, start, settle } = setUp(async ({ apply, cache }) => {
    if (again && cache.get(Page, 'ns/x')?.metadata.ownerReferences) {
      server.remove(Page, 'ns/x');
      server.put(Page, page('x', { made: 'by somebody else' }));
    }
    await apply(page('x', { made: 'by us' })).catch((error: unknown) => {
      errors.push(error);
      throw error;
    });
  });
  server.put(Site, site('a'));
  const running = start();
  await settle();
  again = true;
  server.put(Site, site('a', { pages: 1 }));
  await settle();
  expect(errors.map((error) => (error as { code?: unknown }).code)).toEqual([409, 'FOREIGN_OBJECT']);
  expect(lines.some(({ message }) => message.includes('conflict'))).toBe(true);
  expect(server.peek(Page, 'ns/x')?.data).toEqual({ made: 'by somebody else' });
  stop.abort();
  await running;
});

test('what is generated once is kept, also when the cache does not know it yet', async () => {
  let generated = 0;
  const { server, stop, start, settle, runtime } = setUp(async ({ create }) => {
    const kept = await create(page('password', { value: `secret-${++generated}` }));
    expect(kept.data).toEqual({ value: 'secret-1' });
  });
  server.put(Site, site('a'));
  server.loses = (event) => event.type !== 'BOOKMARK' && event.object.kind === 'Page';
  const running = start();
  await settle();
  expect(generated).toBe(2);
  stop.abort();
  await running;
  expect(runtime().cache.get(Page, 'ns/password')?.data).toEqual({ value: 'secret-1' });
  expect(server.writes.filter(({ verb }) => verb === 'create')).toHaveLength(1);
});
