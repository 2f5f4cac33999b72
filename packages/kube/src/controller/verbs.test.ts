import { expect, test } from 'vitest';
import { controllerReference, type StoredObject } from '../objects/objects.ts';
import { ForeignObjectError } from '../objects/ownership.ts';
import { Page, page, Site, setUp, site } from '../testing/sites.ts';

test('what is stated is made, corrected, and told; a settled system writes nothing', async () => {
  const { clock, server, stop, start, settle, runtime } = setUp(async ({ object, apply, remove, cache, status }) => {
    const wanted = object.spec.pages ?? 0;
    for (let i = 0; i < wanted; i++) await apply(page(`${object.metadata.name}-${i}`, { text: 'hello' }));
    const mine = cache.controlledBy(Page, object);
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
  const holders: Record<string, string> = {};
  const { server, stop, start, settle } = setUp(async ({ apply, create }) => {
    for (const [verb, name] of [
      [apply, 'theirs'],
      [create, 'loose'],
      [apply, 'unseen'],
      [create, 'unknown'],
    ] as const) {
      const error = await verb(page(name, { mine: 'yes' })).catch((error: unknown) => error);
      holders[name] = error instanceof ForeignObjectError ? error.holder : String(error);
    }
  });
  const other = server.put(Site, site('other'));
  const loose = (name: string) => ({
    ...page(name),
    metadata: { ...page(name).metadata, managedFields: [{ manager: 'helm' }] },
  });
  server.put(Page, {
    ...page('theirs'),
    metadata: { ...page('theirs').metadata, ownerReferences: [controllerReference(other)] },
  });
  server.put(Page, loose('loose'));
  server.remove(Site, 'ns/other');
  server.put(Site, site('a'));
  server.intercept = ({ verb, key }) => {
    // Comes while our first request about it is on its way: no cache knows it.
    if ((verb === 'apply' && key === 'ns/unseen') || (verb === 'create' && key === 'ns/unknown')) {
      server.put(Page, loose(key.slice(3)));
    }
  };
  const running = start();
  await settle();
  expect(holders).toEqual({
    theirs: `belongs to Site other (uid ${other.metadata.uid})`,
    loose: 'has no controlling owner',
    unseen: 'has no controlling owner (written by helm)',
    unknown: 'has no controlling owner (written by helm)',
  });
  expect(server.all(Page).some(({ data }) => JSON.stringify(data).includes('mine'))).toBe(false);
  stop.abort();
  await running;
});

test('what must outlive the object carries no reference to it, and is known as ours by other means', async () => {
  const ours = ({ metadata }: StoredObject) => metadata.labels?.['site'] === 'a';
  const { server, stop, lines, start, settle } = setUp(async ({ apply }) => {
    const volume = {
      ...page('volume', { size: '1' }),
      metadata: { ...page('volume').metadata, labels: { site: 'a' } },
    };
    await apply(volume, { owned: false, ours });
  });
  server.put(Site, site('a'));
  const running = start();
  await settle();
  expect(server.peek(Page, 'ns/volume')?.metadata.ownerReferences).toBeUndefined();
  server.put(Page, { ...page('volume'), metadata: { ...page('volume').metadata, labels: { site: 'b' } } });
  server.put(Site, site('a', { pages: 1 }));
  await settle();
  expect(JSON.stringify(lines)).toContain('Page ns/volume exists and has no controlling owner; it is left alone');
  stop.abort();
  await running;
});

test('an owner in another namespace is refused: the garbage collector would delete what it owns', async () => {
  const { server, stop, lines, start, settle } = setUp(async ({ apply }) => {
    await apply({ ...page('x'), metadata: { namespace: 'elsewhere', name: 'x' } });
  });
  server.put(Site, site('a'));
  const running = start();
  await settle();
  expect(JSON.stringify(lines)).toContain('Page elsewhere/x cannot be owned by Site ns/a');
  expect(server.writes).toEqual([]);
  stop.abort();
  await running;
});

test('an object that vanished is not made anew by accident, but by the next reconcile', async () => {
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
    await apply(page('x', { made: again ? 'by us again' : 'by us' })).catch((error: unknown) => {
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

test('an object is made by one request, and what stands as stated is not stated again', async () => {
  const { server, stop, start, settle, runtime } = setUp(async ({ object, apply }) => {
    await apply(page('x', { made: String(object.spec.pages) }));
  });
  const requests = () => server.requests.filter(({ key }) => key === 'ns/x').map(({ verb }) => verb);
  const change = async (more: object) => {
    const { metadata, ...rest } = server.peek(Page, 'ns/x') as StoredObject<Page>;
    server.put(Page, { ...rest, metadata: { ...metadata, generation: 1 }, ...more });
    await settle();
    return requests().length;
  };
  server.put(Site, site('a', { pages: 1 }));
  const running = start();
  await settle();
  runtime().resync();
  await settle();
  expect(requests()).toEqual(['apply']);

  server.put(Site, site('a', { pages: 2 }));
  await settle();
  expect(requests()).toHaveLength(2);

  // Nobody counts the changes of what has no generation: each may be one of what is stated.
  expect(await change({ status: { seen: 0 } })).toBe(3);
  expect(await change({ status: { seen: 1 } })).toBe(3);
  expect(await change({ metadata: { ...server.peek(Page, 'ns/x')?.metadata, labels: { by: 'hand' } } })).toBe(4);
  expect(
    await change({ data: { made: 'by hand' }, metadata: { ...server.peek(Page, 'ns/x')?.metadata, generation: 2 } }),
  ).toBe(5);
  expect(server.peek(Page, 'ns/x')?.data).toEqual({ made: '2' });
  stop.abort();
  await running;
});
