import { expect, test } from 'vitest';
import { copiesFor } from './copies.ts';
import { type Failure, readFailures, saysSo } from './failure.ts';
import { readObjects } from './provoke.ts';
import { expected, provokeAll } from './provoke-all.ts';
import { embeddedStage } from './stages.ts';

const failures = readFailures();

test('every failure has its own name and its words', () => {
  expect(new Set(failures.map(({ what }) => what)).size).toBe(failures.length);
  expect(failures.filter(({ says }) => says.replaceAll('…', '').trim().length < 5)).toEqual([]);
});

test('words are found within one line, whatever stands for the dots', () => {
  const failure = { says: 'a (b) … [c]' } as Failure;
  expect(saysSo(failure, 'x a (b) 1.2 [c] y')).toBe(true);
  expect(saysSo(failure, 'a (b)\n[c]')).toBe(false);
});

test('the programs of the embedded cloud fail as the real ones did', async () => {
  const { stage, run, stop } = await embeddedStage();
  const outcomes = await run(() => provokeAll(stage, failures));
  const objects = await run(() => readObjects(stage));
  stop();
  const careless = {
    what: 'x',
    run: 'Job my-cloud-keystone-bootstrap',
    before: ['StatefulSet my-cloud-mariadb'],
    says: '',
  };
  expect(() => copiesFor(careless, objects, new Map(), 'x')).toThrow('a copy of the database needs one of memcached');
  expect(outcomes.map(({ what, seen }) => ({ what, ...seen }))).toEqual(
    failures.map((failure) => ({ what: failure.what, ...expected(failure) })),
  );
}, 60_000);
