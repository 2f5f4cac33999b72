import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('further users, a domain and implied roles are made, corrected by the audit, and disabled with the service', async () => {
  const { up, repaired, off } = await outcomeOf('identities.ts');
  const { domain } = up as { domain: { id: string } };
  expect(up).toMatchObject({
    users: [
      { enabled: true, domain_id: 'default' },
      { enabled: true, domain_id: domain.id },
    ],
    domain: { enabled: true, description: 'Those who ring' },
    isAdministrator: true,
    owner: { name: 'bell_owner' },
    probe: { roles: [{ name: 'reader' }] },
    implied: { role_inference: { prior_role: { name: 'admin' }, implies: { name: 'ringer' } } },
  });
  expect(repaired).toEqual(['enabled domain bells; made role admin imply ringer']);
  expect(off).toEqual({
    users: [expect.objectContaining({ enabled: false }), expect.objectContaining({ enabled: false })],
    domain: expect.objectContaining({ id: domain.id, enabled: false }),
    events: [
      'taken back: user bell, user ringer-in-chief of domain bells, user bell_probe, domain bells and endpoints of bell in region RegionOne of Keystone',
    ],
  });
});
