import { describe, expect, test } from 'vitest';
import { userConfig } from './user-config.ts';

const check = (config: unknown) =>
  userConfig(config as never, {
    path: 'spec.config',
    names: ['nova.conf', 'scheduler'],
    owned: { libvirt: { virt_type: 'spec.virtType' } },
  });

test('files and components are taken by name; numbers, texts, switches and null as they are', () => {
  const config = { 'nova.conf': { DEFAULT: { a: 1.5, b: true, c: null } }, scheduler: { scheduler: { workers: 4 } } };
  expect(check(config)).toEqual({ layers: config, problems: [], degraded: [], remarks: [] });
});

test('a list is one line', () => {
  const { layers } = check({ 'nova.conf': { DEFAULT: { enabled: ['x', 'y'] } } });
  expect(layers['nova.conf']).toEqual({ DEFAULT: { enabled: 'x,y' } });
});

describe('what cannot be taken is left out, and the message names path and way out', () => {
  test.each([
    ['libvirt', 'virt_type', 'qemu', 'set spec.virtType instead'],
    ['DEFAULT', 'a', 'two\nlines', 'neither a line break'],
    ['DEFAULT', 'a b', '1', 'not the name of an option'],
    ['DEFAULT', 'a', { secretKeyRef: { name: 'x', key: 'y' } }, 'found a map'],
    ['DEFAULT', 'a', { b: 1 }, 'found a map: write the value as in the file'],
    ['DEFAULT', 'a', ['b', ['c']], 'expected a text, a number, true or false, a list of these, or null, found a list'],
    ['DEFAULT', 'a', [{ b: 1 }], 'found a list with other entries'],
    ['DEFAULT', 'a', [null], 'found a list with other entries'],
  ])('[%s] %s = %j: %s', (section, option, value, message) => {
    const { layers, problems } = check({ 'nova.conf': { [section]: { [option]: value, kept: 1 } } });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain(`spec.config["nova.conf"].${section}.${option}: `);
    expect(problems[0]?.message).toContain(message);
    expect(layers['nova.conf']).toEqual({ [section]: { kept: 1 } });
  });

  test('a value too deep to be written as JSON', () => {
    const value = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as unknown;
    expect(check({ 'nova.conf': { DEFAULT: { a: value } } }).problems[0]?.message).toContain(
      'DEFAULT.a: expected a text',
    );
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'a section or an option named %s changes no other object',
    (name) => {
      const before = Object.getOwnPropertyNames(Object.prototype);
      const written = (section: string, option: string) =>
        JSON.parse(`{"nova.conf": {"${section}": {"${option}": {"polluted": 1}, "polluted": 1}}}`) as unknown;
      for (const config of [written(name, 'polluted'), written('DEFAULT', name)]) {
        const { problems } = check(config);
        expect(problems.map(({ message }) => message)).toContainEqual(
          expect.stringContaining(`no section or option is named ${name}`),
        );
        expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
        expect({}).not.toHaveProperty('polluted');
      }
    },
  );

  test('an unknown file or component', () => {
    expect(check({ 'nova.cnf': {} }).problems[0]?.message).toBe(
      'spec.config["nova.cnf"]: unknown file or component; known are nova.conf, scheduler',
    );
  });
});

test('of many mistakes ten are told, and of long names the beginning: words are no multiple of the resource', () => {
  const options = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`!${index}`, 1]));
  const { problems } = check({ 'nova.conf': { ['a'.repeat(700_000)]: options } });
  expect(problems).toHaveLength(10);
  expect(problems[0]?.message).toBe(
    `spec.config["nova.conf"].${'a'.repeat(255)}....!0: names of sections and options have at most 255 characters`,
  );
});
