import type { ValueFacts } from '@openstack-operator/facts';
import { expect, test } from 'vitest';
import type { OptionValue } from '../oslo/writer.ts';
import { valueMistake } from './option-value.ts';

test.each<[ValueFacts, OptionValue]>([
  [{ type: 'boolean' }, true],
  [{ type: 'boolean' }, 'On'],
  [{ type: 'boolean' }, 0],
  [{ type: 'integer', min: 0 }, 0],
  [{ type: 'integer', min: 1 }, ''],
  [{ type: 'port' }, '65535'],
  [{ type: 'float', min: 0 }, '1.5e3'],
  [{ type: 'string', choices: ['qcow2', null] }, 'qcow2'],
  [{ type: 'string', choices: ['GET'], ignoreCase: true }, 'get'],
  [{ type: 'integer', choices: [4, 6] }, 6],
  [{ type: 'string', regex: '^\\d+:\\d+$' }, '1:2'],
  [{ type: 'list', items: { type: 'port' } }, ['80', '443']],
  [{ type: 'list', items: { type: 'port' } }, '[80, 443]'],
  [{ type: 'list', items: { type: 'port' } }, ''],
  [{ type: 'multi' }, ['a,b', 'c']],
  [{ type: 'dict', items: { type: 'integer' } }, 'a:1, b:2'],
  [{ type: 'ip', version: 6 }, 'fd00::1'],
  [{ type: 'ip' }, '10.0.0.1'],
  [{ type: 'host-address' }, 'nova-api.openstack.svc'],
  [{ type: 'hostname' }, 'a'],
  [{ type: 'uri', schemes: ['https'] }, 'https://example.com/x'],
  [{ type: 'range' }, '1-5'],
])('%j takes %j', (facts, value) => {
  expect(valueMistake(facts, value)).toBeUndefined();
});

test.each<[ValueFacts, OptionValue, string]>([
  [{ type: 'boolean' }, 'maybe', 'expected true or false, found "maybe"'],
  [{ type: 'integer' }, 1.5, 'expected a whole number, found "1.5"'],
  [{ type: 'integer', min: 1 }, 0, 'expected a whole number of at least 1, found "0"'],
  [{ type: 'integer', max: 9 }, 10, 'expected a whole number of at most 9, found "10"'],
  [{ type: 'port', min: 1 }, 65_536, 'expected a port from 1 to 65535, found "65536"'],
  [{ type: 'float', min: 0, max: 1 }, '2', 'expected a number from 0 to 1, found "2"'],
  [{ type: 'float' }, 'much', 'expected a number, found "much"'],
  [
    { type: 'string', choices: ['iso9660', 'vfat', null] },
    'iso9600',
    'expected one of iso9660, vfat (did you mean iso9660?), found "iso9600"',
  ],
  [{ type: 'integer', choices: [4, 6] }, 5, 'expected one of 4, 6, found "5"'],
  [{ type: 'string', regex: '^3\\.\\d+$' }, '2.1', 'expected a text that ^3\\.\\d+$ matches, found "2.1"'],
  [{ type: 'string', maxLength: 3 }, 'abcd', 'expected at most 3 characters, found "abcd"'],
  [
    { type: 'list', items: { type: 'port' } },
    '80,http',
    'expected a list, each a port from 0 to 65535, found "80,http"',
  ],
  [{ type: 'multi', items: { type: 'integer' } }, ['1', 'b'], 'expected a whole number, found "b"'],
  [{ type: 'dict' }, 'a', 'expected pairs key:value with commas between them, found "a"'],
  [{ type: 'ip', version: 4 }, 'fd00::1', 'expected an IPv4 address, found "fd00::1"'],
  [{ type: 'ip' }, '10.0.0.256', 'expected an IP address, found "10.0.0.256"'],
  [{ type: 'host-address' }, 'http://a', 'expected a host name or an IP address, found "http://a"'],
  [{ type: 'hostname' }, '', 'expected a host name, found ""'],
  [{ type: 'uri' }, 'example.com', 'expected a URL, found "example.com"'],
  [{ type: 'uri', schemes: ['http', 'https'] }, 'ftp://a', 'expected a URL (http, https), found "ftp://a"'],
  [{ type: 'range' }, 'a-b', 'expected a number, or two with a hyphen between them, found "a-b"'],
  [{ type: 'boolean' }, 'x'.repeat(200), `expected true or false, found "${'x'.repeat(100)}..."`],
])('%j does not take %j', (facts, value, words) => {
  expect(valueMistake(facts, value)).toBe(words);
});
