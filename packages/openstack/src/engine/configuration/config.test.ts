import { describe, expect, test } from 'vitest';
import { surroundingsOf } from '../vocabulary/surroundings.ts';
import { configSet } from './config.ts';

const owner = { service: 'nova', instance: 'nova', namespace: 'n', surroundings: surroundingsOf(), mounts: () => [] };

function written(files: Parameters<typeof configSet>[1]['files']) {
  const { objects, ...set } = configSet(owner, { name: 'config', volume: 'config', files });
  const secrets = objects.flatMap((desired) => (desired.verb === 'resolve' ? [desired.object] : []));
  const stringData = secrets.map((secret) => (secret as { stringData?: Record<string, string> }).stringData);
  return { ...set, stringData: Object.assign({}, ...stringData) as Record<string, string> };
}

describe('an option that holds a secret', () => {
  test('is a variable where the files agree', () => {
    const file = { oslo: { database: { connection: '{{s/a}}' } } };
    const { stringData, secretFiles } = written({ '/etc/a.conf': file, '/etc/b.conf': file });
    expect(stringData).toEqual({ OS_DATABASE__CONNECTION: '{{s/a}}' });
    expect(secretFiles).toBeUndefined();
  });

  test.each([
    ['another secret', '{{s/b}}', ['a.conf', 'b.conf']],
    ['a plain value', 'sqlite://', ['a.conf']],
  ])('stays in its file where another says %s', (_, other, keys) => {
    const { stringData, environment, secretPaths } = written({
      '/etc/a.conf': { oslo: { database: { connection: '{{s/a}}' } } },
      '/etc/b.conf': { oslo: { database: { connection: other } } },
    });
    expect(environment).toBeUndefined();
    expect(Object.values(secretPaths)).toEqual(keys);
    expect(stringData['a.conf']).toContain('connection = {{s/a}}');
    expect(stringData['b.conf'] ?? other).toContain(other);
  });
});
