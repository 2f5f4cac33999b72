import { expect, test } from 'vitest';
import { proxyFromEnvironment } from './proxy-environment.ts';

test('the variable goes by the scheme, in either case', () => {
  expect(proxyFromEnvironment('https://a.example', { HTTPS_PROXY: 'http://p:1' })).toBe('http://p:1');
  expect(proxyFromEnvironment('https://a.example', { https_proxy: 'p:1' })).toBe('http://p:1');
  expect(proxyFromEnvironment('http://a.example', { HTTPS_PROXY: 'http://p:1' })).toBeUndefined();
  expect(proxyFromEnvironment('http://a.example', { HTTP_PROXY: 'http://p:1' })).toBe('http://p:1');
  expect(proxyFromEnvironment('https://a.example', {})).toBeUndefined();
});

test('this machine is never behind a proxy', () => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
    expect(proxyFromEnvironment(`https://${host}:6443`, { HTTPS_PROXY: 'http://p:1' })).toBeUndefined();
  }
});

test.for([
  ['*', 'a.example', true],
  ['a.example', 'a.example', true],
  ['a.example', 'b.a.example', true],
  ['a.example', 'ba.example', false],
  ['.a.example', 'b.a.example', true],
  ['.a.example', 'a.example', false],
  ['*.a.example', 'b.a.example', true],
  ['x, a.example:6443', 'a.example:6443', true],
  ['a.example:6443', 'a.example', false],
  ['a.example:443', 'a.example', true],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.0/8', '10.9.9.9:6443', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.0.0.0/99', '10.0.0.1', false],
  ['fd00::/8', '[fd00::1]', true],
  ['[fd00::1]:6443', '[fd00::1]:6443', true],
  ['fd00::1', '[fd00::1]', true],
  ['', 'a.example', false],
] as const)('NO_PROXY=%s: %s -> %s', ([exceptions, host, direct]) => {
  const proxy = proxyFromEnvironment(`https://${host}`, { HTTPS_PROXY: 'http://p:1', NO_PROXY: exceptions });
  expect(proxy === undefined).toBe(direct);
});
