import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { member, stranger } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { asked, s3Of, temporaryUrl } from '../objects.ts';
import type { User } from '../running-cloud.ts';
import { optionalService } from '../services/optional-service.ts';
import { until } from '../until.ts';
import { ceph } from './client.ts';

/** The image of the cluster's own daemons, which has radosgw. */
const image = () =>
  program(
    ...(['kubectl', 'get', '-n', 'ceph', 'statefulset/ceph', '-o'] as const),
    'jsonpath={.spec.template.spec.containers[0].image}',
  );

const poolsOfGateways = async () => (await ceph<string[]>('osd', 'pool', 'ls')).filter((name) => /\brgw\./u.test(name));

/** Objects go with their pools, and a native Swift may have the name again. */
async function forget(): Promise<void> {
  const { name, namespace } = (await controlPlane()).metadata;
  await until({
    what: 'the Swift to be gone',
    seconds: 240,
    probe: async () => (await program('kubectl', '-n', namespace, 'get', 'swifts', '-o', 'name')) === '' || undefined,
    explain: () => program('kubectl', '-n', namespace, 'get', 'swifts', '-o', 'yaml'),
  });
  await program('kubectl', '-n', namespace, 'delete', 'configmap', `${name}-swift-lasting`, '--ignore-not-found');
  for (const pool of await poolsOfGateways())
    await ceph('osd', 'pool', 'delete', pool, pool, '--yes-i-really-really-mean-it');
}

test('the object gateway keeps objects of projects in Ceph, by the APIs of Swift and S3', async () => {
  onTestFinished(forget, 300_000);
  const swift = optionalService('swift', 'swifts');
  const spec = { enabled: true, mode: 'ceph-rgw', replicas: 2, images: { proxy: await image() } };
  await swift(spec);
  // Who has asked for something before has a catalogue without it.
  const [user, other] = (await Promise.all([member(), stranger()])).map((one) => one.connectedAnew()) as [User, User];
  const account = await user.call<string>('object_store.get_endpoint');
  expect(new URL(account).pathname).toMatch(/^\/swift\/v1\/AUTH_[0-9a-f]{32}$/u);

  // Containers and objects, byte by byte, of one project alone.
  const data = randomBytes(3 * 2 ** 20).toString('hex');
  expect((await asked(user, 'put', '/photos')).status).toBe(201);
  expect((await asked(user, 'put', '/photos/cats/tom', { data })).status).toBe(201);
  expect((await asked(user, 'get', '/photos/cats/tom')).text === data).toBe(true);
  expect(JSON.parse((await asked(user, 'get', '/photos?format=json')).text)).toMatchObject([
    { name: 'cats/tom', bytes: data.length },
  ]);
  expect((await asked(user, 'get', '/photos/none')).status).toBe(404);
  expect((await asked(user, 'put', '/none/cat', { data: 'purrs' })).status).toBe(404);
  expect((await asked(other, 'put', '/photos')).status).toBe(201);
  const theirs = () => asked(other, 'get', `${account}/photos/cats/tom`);
  expect((await theirs()).status).toBe(403);

  // Who may read besides: another project, then anybody.
  const project = await other.call<string>('session.get_project_id');
  const readers = (who: string) => asked(user, 'post', '/photos', { headers: { 'X-Container-Read': who } });
  expect((await readers(`${project}:*`)).status).toBe(204);
  expect((await theirs()).text === data).toBe(true);
  const anybody = () => asked(other, 'get', `${account}/photos/cats/tom`, { authenticated: false });
  expect((await anybody()).status).toBe(401);
  expect((await readers('.r:*')).status).toBe(204);
  expect((await anybody()).status).toBe(200);
  expect((await readers('.r:-*')).status).toBeLessThan(300);

  // Large ones, of segments, by both kinds of manifests.
  expect((await asked(user, 'put', '/parts')).status).toBe(201);
  for (const part of ['one ', 'two'])
    expect((await asked(user, 'put', `/parts/large/${part.trim()}`, { data: part })).status).toBe(201);
  const dynamic = { headers: { 'X-Object-Manifest': 'parts/large/' } };
  expect((await asked(user, 'put', '/photos/dynamic', dynamic)).status).toBe(201);
  const manifest = JSON.stringify([{ path: '/parts/large/two' }, { path: '/parts/large/one' }]);
  expect((await asked(user, 'put', '/photos/static?multipart-manifest=put', { data: manifest })).status).toBe(201);
  expect(await asked(user, 'get', '/photos/dynamic')).toEqual({ status: 200, text: 'one two' });
  expect(await asked(user, 'get', '/photos/static')).toEqual({ status: 200, text: 'twoone ' });

  // Whoever has the URL may read, for a while.
  const key = { headers: { 'X-Account-Meta-Temp-Url-Key': 'a key' } };
  expect((await asked(user, 'post', '', key)).status).toBe(204);
  const url = temporaryUrl(account, '/photos/dynamic', 'a key');
  expect(await asked(user, 'get', url, { authenticated: false })).toEqual({ status: 200, text: 'one two' });
  const forged = url.replace(/(?<=temp_url_sig=)[0-9a-f]+/u, '0'.repeat(64));
  expect((await asked(user, 'get', forged, { authenticated: false })).status).toBe(403);

  // Clients of S3, with keys of the user's own.
  const s3 = await s3Of(user, account);
  expect((await s3('put', '/bucket')).status).toBe(200);
  expect((await s3('put', '/bucket/dog', { data: 'woof' })).status).toBe(200);
  expect(await s3('get', '/bucket/dog')).toEqual({ status: 200, text: 'woof' });
  expect((await asked(user, 'get', '/bucket/dog')).text).toBe('woof');
  expect((await s3('get', '/bucket/dog', {}, 'wrong')).status).toBe(403);

  // Switched off and on it still has them: they are in the pools that it has made.
  expect(await poolsOfGateways()).toContain('default.rgw.buckets.data');
  await swift({ ...spec, enabled: false });
  await swift(spec);
  expect((await asked(user, 'get', '/photos/cats/tom')).text === data).toBe(true);
}, 1_200_000);
