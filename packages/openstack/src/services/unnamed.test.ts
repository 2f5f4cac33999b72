import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { services } from './index.ts';

const root = new URL('../../../../', import.meta.url);

/** Rooms in which no service may be named: what they need of one is a word of its definition. */
const rooms = [
  'packages/openstack/src/engine',
  'packages/openstack/src/control-plane',
  'packages/openstack/src/api',
  'packages/operator/src',
  'packages/cli/src',
];

/** Lines that may name one all the same, by file. */
const exceptions: Readonly<Record<string, RegExp>> = {
  // A section and an option of libraries that many services use.
  'packages/openstack/src/engine/configuration/sections.ts': /memcached_servers|keystone_authtoken/,
  // A technology, chosen for the whole cloud.
  'packages/openstack/src/control-plane/kind.ts': /\['ovn'|default: 'ovn'/,
  // Clients of their APIs.
  'packages/operator/src/records/run.ts': /keystone|rabbitmq/,
  'packages/operator/src/records/servers.ts': /keystone\.ts/,
  'packages/cli/src/minimal-control-plane.ts': /virtType/,
};

/** TypeScript without its comments, and without what people read. */
function code(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gmu, '')
    .replaceAll(/(['"`])(?:(?!\1)[^\n])*\1/gu, (text) => (/\s/u.test(text) ? "''" : text));
}

test.each(rooms)('%s names no service', (room) => {
  // As a word of its own, and within identifiers such as `askNova` and `novaRef`.
  const patterns = services.flatMap(({ name, kind }) => [
    `(?<![A-Za-z])${name}(?![a-z])`,
    `(?:${name.charAt(0).toUpperCase()}${name.slice(1)}|${kind.kind})(?![a-z])`,
  ]);
  const pattern = new RegExp(patterns.join('|'), 'u');
  const found = readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('generated'))
    .flatMap((file) =>
      code(readFileSync(new URL(`${room}/${file}`, root), 'utf8'))
        .split('\n')
        .filter((line) => pattern.test(line) && exceptions[`${room}/${file}`]?.test(line) !== true)
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
