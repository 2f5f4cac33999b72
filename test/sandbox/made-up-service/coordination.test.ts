import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a service coordinates by the Memcached of its cloud, or by a Valkey of others whose password is in a Secret', async () => {
  const own = { file: 'memcached://my-cloud-memcached.openstack.svc:11211' };
  expect(await outcomeOf('coordination.ts')).toEqual({
    first: own,
    second: { variable: 'redis://:two%2Fwords@valkey.example.com:6380' },
    third: own,
  });
});
