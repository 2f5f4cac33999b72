import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

function server(spec: Record<string, unknown>) {
  const base = resource(read('mariadb'));
  const composition = composed({ ...base, spec: { ...base.spec, ...spec } }, surroundings(read));
  const options = objectsOf(composition)
    .flatMap(({ object }) => Object.entries((object as { data?: Record<string, string> }).data ?? {}))
    .find(([name]) => name === 'my.cnf')?.[1];
  return { options, problem: composition.steps.find(({ condition }) => condition === 'ConfigReady')?.problem?.message };
}

test.each([
  [{ resources: { requests: { memory: '8Gi' } } }, 'innodb-buffer-pool-size = 4096M'],
  [{ resources: { limits: { memory: '1Gi' } } }, 'innodb-buffer-pool-size = 512M'],
  [{ components: { server: { resources: { requests: { memory: '100Mi' } } } } }, 'innodb-buffer-pool-size = 128M'],
  [{ maxConnections: 3000 }, 'max-connections = 3000'],
  [{ config: { 'my.cnf': { mariadbd: { 'innodb-buffer-pool-size': '2G' } } } }, 'innodb-buffer-pool-size = 2G'],
  [{ config: { 'my.cnf': { mariadbd: { slow_query_log: true } } } }, 'slow_query_log = true'],
])('%j: %s', (spec, line) => {
  const { options, problem } = server(spec);
  expect(problem).toBeUndefined();
  expect(options?.split('\n')).toContain(line);
});

test("without a request of memory the size of the pool is the server's own", () => {
  expect(server({}).options).not.toContain('innodb-buffer-pool-size');
});

test.each([
  [
    { mariadbd: { max_connections: 5 } },
    'max_connections: this option follows from other fields: set spec.maxConnections',
  ],
  [
    { mariadbd: { 'bind-address': '::' } },
    'bind-address: the operator sets this option itself: the Service connects to it; remove it',
  ],
  [{ mysqld: { port: 1 } }, 'spec.config["my.cnf"].mysqld: unknown section; the only one is mariadbd'],
  [{ mariadbd: { 'init-connect': '$x' } }, 'init-connect: a value cannot contain "$"'],
  [{ mariadbd: { 'max-connexions': 5 } }, 'the server does not know this option, and would not start; did you mean'],
  [{ mariadbd: { 'loose-skip-grant': 'ON' } }, 'the server takes it for skip-grant-tables: the operator sets this'],
  [{ mariadbd: { Skip_Grant_Tables: 'ON' } }, 'the operator sets this option itself'],
  [{ mariadbd: { 'loose-max-connections': 5 } }, 'set spec.maxConnections instead'],
  [{ mariadbd: { wsrep_on: 'OFF' } }, 'this option follows from other fields: set spec.replicas'],
  [{ mariadbd: { 'binlog-format': 'MIXED' } }, 'members replicate rows'],
  [{ mariadbd: { ssl: 'OFF' } }, 'set spec.tls instead'],
  [{ mariadbd: { 'skip-ssl': '' } }, 'set spec.tls instead'],
  [{ mariadbd: { ssl_cert: '/tmp/x' } }, 'set spec.tls instead'],
])('%j is refused', (sections, message) => {
  expect(server({ config: { 'my.cnf': sections } }).problem).toContain(message);
});

test.each(['innodb_flush_log_at_trx_commit', 'skip-name-resolve', 'loose-server-audit-logging', 'slow-query-log'])(
  '%s is taken',
  (option) => {
    expect(server({ config: { 'my.cnf': { mariadbd: { [option]: '1' } } } }).problem).toBeUndefined();
  },
);
