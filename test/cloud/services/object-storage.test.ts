import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { member, stranger } from '../fixture.ts';
import { asked, s3Of, temporaryUrl } from '../objects.ts';
import { until } from '../until.ts';
import { optionalService } from './optional-service.ts';
import { swiftSpec } from './swift-spec.ts';

test('its objects have versions, temporary URLs, storage policies and the API of S3', async () => {
  const swift = optionalService('swift', 'swifts');
  await swift(swiftSpec);
  const user = await member();
  const account = await user.call<string>('object_store.get_endpoint');

  // A container of another policy, with versions.
  const headers = { 'X-Storage-Policy': 'other', 'X-Versions-Enabled': 'true' };
  expect((await asked(user, 'put', '/kept', { headers })).status).toBe(201);
  for (const data of ['first', 'second']) expect((await asked(user, 'put', '/kept/cat', { data })).status).toBe(201);
  const versions = JSON.parse((await asked(user, 'get', '/kept?versions&format=json')).text) as {
    version_id: string;
  }[];
  expect(versions).toHaveLength(2);
  expect((await asked(user, 'get', `/kept/cat?version-id=${versions[1]?.version_id}`)).text).toBe('first');

  // Whoever has the URL may read, for a while.
  const key = { headers: { 'X-Account-Meta-Temp-Url-Key': 'a key' } };
  expect((await asked(user, 'post', '', key)).status).toBe(204);
  const url = temporaryUrl(account, '/kept/cat', 'a key');
  expect(await asked(user, 'get', url, { authenticated: false })).toEqual({ status: 200, text: 'second' });
  const forged = url.replace(/(?<=temp_url_sig=)[0-9a-f]+/u, '0'.repeat(64));
  expect((await asked(user, 'get', forged, { authenticated: false })).status).toBe(401);

  // Clients of S3, with keys of the user's own.
  const s3 = await s3Of(user, account);
  expect((await s3('put', '/bucket')).status).toBe(200);
  expect((await s3('put', '/bucket/dog', { data: 'woof' })).status).toBe(200);
  expect(await s3('get', '/bucket/dog')).toEqual({ status: 200, text: 'woof' });
  expect((await s3('get', '/bucket')).text).toContain('<Key>dog</Key>');
  expect((await asked(user, 'get', '/bucket/dog')).text).toBe('woof');
  expect((await s3('get', '/bucket/dog', {}, 'wrong')).status).toBe(403);
});

test('with Storlets its proxies take requests that run some, and give the data as they are', async () => {
  const swift = optionalService('swift', 'swifts');
  const storlets = optionalService('storlets', 'storlets');
  await swift(swiftSpec);
  await storlets({ enabled: true });
  const user = await member();
  for (const name of ['storlet', 'pictures']) expect((await asked(user, 'put', `/${name}`)).status).toBeLessThan(300);
  expect((await asked(user, 'put', '/pictures/cat', { data: 'purrs' })).status).toBe(201);
  const code = () =>
    asked(user, 'put', '/storlet/count.py', {
      data: 'code',
      headers: {
        'X-Object-Meta-Storlet-Language': 'Python',
        'X-Object-Meta-Storlet-Interface-Version': '1.0',
        'X-Object-Meta-Storlet-Object-Metadata': 'no',
        'X-Object-Meta-Storlet-Main': 'count.Count',
      },
    });
  expect(await code()).toEqual({ status: 400, text: 'Account disabled for storlets' });
  const enabled = { headers: { 'X-Account-Meta-Storlet-Enabled': 'True' } };
  expect((await asked(user, 'post', '', enabled)).status).toBe(204);
  expect((await code()).status).toBe(201);
  const run = (storlet: string) => asked(user, 'get', '/pictures/cat', { headers: { 'X-Run-Storlet': storlet } });
  expect(await run('count.py')).toEqual({ status: 200, text: 'purrs' });
  expect((await run('none.py')).status).toBe(401);
  const copy = { headers: { 'X-Run-Storlet': 'count.py', 'X-Copy-From': '/pictures/cat' } };
  expect((await asked(user, 'put', '/pictures/dog', copy)).status).toBe(201);
  expect(await asked(user, 'get', '/pictures/dog')).toEqual({ status: 200, text: 'purrs' });

  await storlets({ enabled: false });
  await until({
    what: 'proxies without the filter',
    seconds: 300,
    probe: async () => isDeepStrictEqual(await run('none.py'), { status: 200, text: 'purrs' }) || undefined,
    explain: async () => JSON.stringify(await run('none.py')),
  });
});

test('enabled later, Swift keeps objects of a project; switched off and on it still has them', async () => {
  const swift = optionalService('swift', 'swifts');
  await swift(swiftSpec);
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

  await swift({ ...swiftSpec, enabled: false });
  await swift(swiftSpec);
  expect(await asked(user, 'get', '/photos/large')).toEqual({ status: 200, text: 'one two' });
});
