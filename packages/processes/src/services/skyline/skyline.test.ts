import { expect, it } from 'vitest';
import { NginxError, parseNginx } from './nginx-configuration.ts';

it.each([
  ['listen 80;\nbogus on;', 'unknown directive "bogus" in nginx.conf:2'],
  ['http { server { listen 80;', 'unexpected end of file, expecting ";" or "}" in nginx.conf:1'],
  ['listen 80', 'unexpected end of file, expecting ";" or "}" in nginx.conf:1'],
  ['listen }', 'unexpected "}" in nginx.conf:1'],
])('nginx refuses %j: %s', (text, words) => {
  expect(() => parseNginx(text, 'nginx.conf')).toThrow(new NginxError(words));
});

it('reads what is quoted as one word, and nothing of a comment', () => {
  const text = "map $a $b {\n  '' $scheme; # } \n}\n";
  expect(parseNginx(text, 'f')).toEqual([
    { name: 'map', words: ['$a', '$b'], at: 'f:1', block: [{ name: '', words: ['$scheme'], block: [], at: 'f:2' }] },
  ]);
});
