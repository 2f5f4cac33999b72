import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { pythonPackages } from '../../../tools/python-packages.ts';
import { startCluster } from './cluster.ts';
import { run } from './command.ts';

const directory = join(import.meta.dirname, 'python');
const packages = pythonPackages('python-client', join(directory, 'requirements.txt'));
const cluster = await startCluster();
afterAll(() => cluster.stop());

/** What went wrong by the test's name; all of them run in one process, because the client takes a second to load. */
const results = runAll();

async function runAll(): Promise<ReadonlyMap<string, string | null>> {
  const environment = { ...cluster.environment, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
  const admin = await cluster.kubectl('default');
  await admin`apply --server-side -k config/crd`;
  await admin`wait --for=condition=Established crd --all --timeout=20s`;
  const { stdout, stderr, code } = await run('python3', [join(directory, 'run.py')], { environment });
  if (code !== 0) throw new Error(`run.py ended with exit code ${code}\n${stderr}${stdout}`);
  const lines = stdout.trim().split('\n');
  return new Map(
    lines.map((line) => {
      const { name, trouble } = JSON.parse(line) as { name: string; trouble: string | null };
      return [name, trouble];
    }),
  );
}

for (const file of readdirSync(directory).filter((name) => name.endsWith('_test.py'))) {
  describe(file, () => {
    const source = readFileSync(join(directory, file), 'utf8');
    const [, group] = /^class (\w+)/m.exec(source) ?? [];
    for (const [, name] of source.matchAll(/def (test_\w+)/g)) {
      test(name?.slice('test_'.length).replaceAll('_', ' ') ?? '', async () => {
        const all = await results;
        expect(all.get(`${file.replace('.py', '')}.${group}.${name}`), 'what went wrong').toBe(null);
      });
    }
  });
}
