import { expect, test } from 'vitest';
import { member } from '../fixture.ts';
import { controlPlane } from '../kubernetes.ts';
import type { User } from '../running-cloud.ts';
import { optionalService } from './optional-service.ts';

/** What Trove answers, and with which status. */
async function asked(user: User, path: string) {
  const options = { raise_exc: false, endpoint_filter: { service_type: 'database', interface: 'public' } };
  const { status, text } = await user.call<{ status: number; text: string }>('session.get', path, options);
  return { status, body: JSON.parse(text) as unknown };
}

/** Without a network of its guests no server is made: the guide says what that takes. */
const spec = {
  enabled: true,
  enabledDatastores: ['mysql'],
  datastoreVersions: [{ datastore: 'mysql', name: '8.4', imageTags: ['trove', 'mysql'] }],
};

/** Trove needs Cinder: CEPH=yes. */
const hasVolumes = 'cinder' in ((await controlPlane()).spec as object);

test.runIf(hasVolumes)('engines and versions are registered, and a version that is added later as well', async () => {
  const trove = optionalService('trove', 'troves');
  await trove(spec);
  const user = await member();
  const versions = async () => {
    const { status, body } = await asked(user, '/datastores/mysql/versions');
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { versions: { name: string }[] }).versions.map(({ name }) => name).sort();
  };
  expect(await versions()).toEqual(['8.4']);
  expect(await asked(user, '/instances')).toEqual({ status: 200, body: { instances: [] } });
  const more = { datastore: 'mysql', name: '9.1', imageTags: ['trove', 'mysql', 'next'] };
  await trove({ ...spec, enabled: false });
  await trove({ ...spec, datastoreVersions: [...spec.datastoreVersions, more] });
  expect(await versions()).toEqual(['8.4', '9.1']);
});
