import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a second user of the database has its own database alone; the audit puts it right, the deletion drops it', async () => {
  const { up, repaired, off } = await outcomeOf('databases.ts');
  const own = ['bell_persistence', 'information_schema'];
  expect(up).toEqual({
    url: 'mysql://bell_persistence:PASSWORD@my-cloud-mariadb.openstack.svc:3306/bell_persistence?charset=utf8',
    databases: own,
  });
  expect(repaired).toEqual({
    events: ['created database bell; corrected password or grants of user bell_persistence'],
    databases: own,
  });
  expect(off).toMatchObject({
    databases: [],
    login: expect.stringContaining("Access denied for user 'bell_persistence'") as string,
    events: [expect.stringContaining('databases bell, bell_persistence and users bell, bell_persistence')],
  });
});
