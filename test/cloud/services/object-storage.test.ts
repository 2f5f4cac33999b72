import { expect, test } from 'vitest';
import { member, stranger } from '../fixture.ts';
import type { User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Swift answers, and with which status. */
async function asked(user: User, method: 'get' | 'put' | 'post', path: string, options: object = {}) {
  const more = { raise_exc: false, ...options };
  const { status, text } = await user.call<{ status: number; text: string }>(`object_store.${method}`, path, more);
  return { status, text };
}

test('enabled later, Swift keeps objects of a project; switched off and on it still has them', async () => {
  const swift = optionalService('swift', 'swifts');
  const spec = { enabled: true, storagePolicy: { replicaCount: 1 }, storageNodes: 1, storage: { size: '1Gi' } };
  await swift(spec);
  const [user, other] = await Promise.all([member(), stranger()]);
  expect((await asked(user, 'put', '/photos')).status).toBe(201);
  expect((await asked(user, 'put', '/photos/cat', { data: 'purrs' })).status).toBe(201);
  expect(await asked(user, 'get', '/photos/cat')).toEqual({ status: 200, text: 'purrs' });
  expect(JSON.parse((await asked(user, 'get', '/photos?format=json')).text)).toMatchObject([{ name: 'cat', bytes: 5 }]);

  const account = await user.call<string>('object_store.get_endpoint');
  expect(
    (await other.call<{ status: number }>('object_store.get', `${account}/photos/cat`, { raise_exc: false })).status,
  ).toBe(403);
  const readers = { headers: { 'X-Container-Read': '.r:*,.rlistings' } };
  expect((await asked(user, 'post', '/photos', readers)).status).toBe(204);
  expect(
    (await other.call<{ status: number }>('object_store.get', `${account}/photos/cat`, { raise_exc: false })).status,
  ).toBe(200);

  // A large one, of segments.
  for (const [index, data] of ['one ', 'two'].entries())
    expect((await asked(user, 'put', `/photos/large-${index}`, { data })).status).toBe(201);
  const manifest = JSON.stringify([{ path: '/photos/large-0' }, { path: '/photos/large-1' }]);
  expect((await asked(user, 'put', '/photos/large?multipart-manifest=put', { data: manifest })).status).toBe(201);
  expect(await asked(user, 'get', '/photos/large')).toEqual({ status: 200, text: 'one two' });

  await swift({ ...spec, enabled: false });
  await swift(spec);
  expect(await asked(user, 'get', '/photos/large')).toEqual({ status: 200, text: 'one two' });
});
