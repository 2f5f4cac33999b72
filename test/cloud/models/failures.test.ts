import { beforeAll, expect, test } from 'vitest';
import { readFailures } from '../../sandbox/failures/failure.ts';
import { remove } from '../../sandbox/failures/provoke.ts';
import { expected, type Provoked, provokeAll } from '../../sandbox/failures/provoke-all.ts';
import { realStage } from '../../sandbox/failures/stages.ts';
import { table } from '../table.ts';

const failures = readFailures();
let found: Provoked[];

beforeAll(async () => {
  const { stage, run, stop } = await realStage();
  try {
    found = await run(() => provokeAll(stage, failures));
  } finally {
    await remove(stage);
    stop();
  }
  const rows = found.map(({ what, seen, outcome }) => {
    const { how, exitCode } = seen;
    const seconds = outcome === undefined ? '' : `${outcome.seconds.toFixed(1)} s`;
    return [what.slice(0, 100), exitCode === undefined ? how : `${how} with ${exitCode}`, seconds];
  });
  process.stdout.write(`\n${table(['failure', 'seen', 'after'], rows)}\n`);
}, 900_000);

// The same list is provoked on the embedded cloud by test/sandbox/failures: what its programs say is what these said.
test.each(failures.map((failure, index) => ({ what: failure.what, failure, index })))('$what', ({ failure, index }) => {
  expect(found[index]?.seen).toEqual(expected(failure));
});
