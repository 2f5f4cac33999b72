import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Rotation } from '../../engine/vocabulary/surroundings.ts';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

interface Records {
  readonly users: readonly { readonly name: string; readonly password: string }[];
  readonly idleUsers?: readonly { readonly name: string; readonly domain?: string }[];
}

/** What a sample's composition has Keystone told of its users, and what its configuration waits for. */
function told(
  sample: string,
  rotations: Readonly<Record<string, Rotation>>,
  rotated: Readonly<Record<string, Rotation>> = {},
) {
  const one = resource(read(sample));
  const composition = composed(one, surroundings(read, { rotations, rotated }));
  const list = objectsOf(composition).find(
    ({ object }) => object.kind === 'Secret' && object.metadata.name === `${sample}-endpoint-create`,
  );
  const { 'records.json': text = '' } = (list?.object['stringData'] ?? {}) as Record<string, string>;
  const { users, idleUsers } = JSON.parse(text) as Records;
  return {
    users: users.map(({ name, password }) => [name, password.replaceAll(/[{}]|[|]quoted/g, '')]),
    idleUsers,
    awaitsUsers: composition.steps
      .find(({ condition }) => condition === 'ConfigReady')
      ?.needs.includes('EndpointReady'),
    rotating: Object.keys(composition.rotating ?? {}),
  };
}

const secret = 'placement-service-password';

test('while the password of a user is rotated there are two users, and pods read of the second one after it is there', () => {
  expect(told('placement', {})).toEqual({
    users: [['placement', `${secret}/password`]],
    idleUsers: [{ name: 'placement.b' }],
    awaitsUsers: false,
    rotating: [],
  });
  const copied = { [secret]: { generation: 1 }, [`${secret}-previous`]: { generation: 1 } };
  expect(told('placement', copied)).toEqual(told('placement', {}));
  expect(told('placement', { [secret]: { generation: 2 }, [`${secret}-previous`]: { generation: 1 } })).toEqual({
    users: [
      ['placement', `${secret}-previous/password`],
      ['placement.b', `${secret}/password`],
    ],
    idleUsers: undefined,
    awaitsUsers: true,
    rotating: [secret],
  });
  const second = { [secret]: { generation: 2 } };
  expect(told('placement', second, second)).toEqual({
    users: [['placement.b', `${secret}/password`]],
    idleUsers: [{ name: 'placement' }],
    awaitsUsers: false,
    rotating: [],
  });
  // The password before is lost, and what reads the present one waits all the same.
  expect(told('placement', second)).toEqual({
    ...told('placement', second, second),
    awaitsUsers: true,
    rotating: [secret],
  });
  expect(told('placement', { [secret]: { generation: 3 } }).idleUsers).toEqual([{ name: 'placement.b' }]);
});

test('a user of a domain of the service has its second one there, and a user that owns something has none', () => {
  const [own, admin] = ['heat-service-password', 'heat-heat-domain-admin-password'];
  const { users, idleUsers } = told('heat', { [own]: { generation: 2 }, [admin]: { generation: 2 } });
  expect(users).toEqual([
    ['heat', `${own}/password`],
    ['heat_domain_admin.b', `${admin}/password`],
  ]);
  expect(idleUsers).toEqual([{ name: 'heat_domain_admin', domain: 'heat' }]);
  const rotated = objectsOf(composed(resource(read('heat')), surroundings(read))).flatMap((desired) =>
    desired.verb === 'generate' && desired.succession !== undefined ? [desired.object.metadata.name] : [],
  );
  expect(rotated).toContain(admin);
  expect(rotated).not.toContain(own);
});
