import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { besideSecrets, resolveReferences, secretReference, splitSecrets } from './references.ts';

const resolve = (filter: Parameters<typeof secretReference>[2], value: string) =>
  resolveReferences(secretReference('s', 'k', ...(filter === undefined ? [] : [filter])), () => value);

describe('filters encode a value for the place where it is put', () => {
  const password = fc.string({ unit: 'grapheme', maxLength: 30 });

  test('url: what a URL parser decodes is the value', () => {
    fc.assert(
      fc.property(password, (value) => {
        const url = new URL(`rabbit://user:${resolve('url', value)}@host:5672/vhost`);
        expect(decodeURIComponent(url.password)).toBe(value);
      }),
    );
  });

  test('oslo: substitution of $ gives the value back', () => {
    fc.assert(
      fc.property(password, (value) => {
        expect(resolve('oslo', value).replaceAll('$$', '$')).toBe(value);
      }),
    );
  });

  test('quoted: a JSON text between quotes stays one, line breaks and tabs included', () => {
    const typed = fc.stringMatching(/^[ -~äöü\n\r\t]{0,30}$/);
    fc.assert(
      fc.property(typed, (value) => {
        expect(JSON.parse(`"${resolve('quoted', value)}"`)).toBe(value);
      }),
    );
  });

  test('shell: between single quotes, a quote ends them and begins them again', () => {
    expect(resolve('shell', `it's`)).toBe(String.raw`it'\''s`);
  });

  test('sqlhash: what MariaDB says of a password (SELECT PASSWORD)', () => {
    expect(resolve('sqlhash', 'secretpw')).toBe('*7648E52EC79D4BB879B7B913F0B8BBF8DC4AB6CC');
  });

  test('filters follow each other', () => {
    expect(resolveReferences(secretReference('s', 'k', 'url', 'percent'), () => 'a@b')).toBe('a%%40b');
  });
});

test('what belongs to a secret is put where that is, and no secret is taken for it', () => {
  const username = besideSecrets('nova.b');
  const password = secretReference('s', 'password', 'oslo');
  const { plain, environment } = splitSecrets({ keystone_authtoken: { auth_type: 'password', username, password } });
  expect(plain).toEqual({ keystone_authtoken: { auth_type: 'password' } });
  const read = Object.values(environment).map((text) => resolveReferences(text, () => username));
  expect(read).toEqual(['nova.b', username]);
});

test('a value that is not there is named', () => {
  expect(() => resolveReferences('x {{secret/key}}', () => undefined)).toThrow('Secret secret has no key key');
});

describe('secrets leave the file for the environment', () => {
  test('under the names that oslo.config reads', () => {
    const connection = `mysql://u:${secretReference('s', 'password', 'url')}@h/d`;
    expect(splitSecrets({ database: { connection, max_retries: -1 } })).toEqual({
      plain: { database: { max_retries: -1 } },
      environment: { OS_DATABASE__CONNECTION: connection },
    });
  });

  test.each([
    ['storage:sqlalchemy', 'connection', '{{s/k}}'],
    ['DEFAULT', 'device_spec', ['{{s/k}}']],
    ['Ksm', 'password', '{{s/k}}'],
    ['database', 'Connection', '{{s/k}}'],
  ])('[%s] %s cannot be carried there', (section, option, value) => {
    expect(splitSecrets({ [section]: { [option]: value }, a: { b: 1 } })).toEqual({
      plain: { a: { b: 1 } },
      environment: {},
      secret: { [section]: { [option]: value } },
    });
  });
});
