/** How one test, or the preparation of a class of tests, ended. */
export interface Result {
  readonly id: string;
  readonly seconds: number;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it was skipped. */
  readonly reason: string;
}

const outcomes: Readonly<Record<string, Result['outcome']>> = { ok: 'passed', FAILED: 'failed', SKIPPED: 'skipped' };

/** What a line of `tempest run` says of a test: `{1} tempest.api.x.Class.test_y [0.532s] ... ok`. */
export function resultOf(line: string): Result | undefined {
  const [, id, seconds = '0', outcome, reason = ''] =
    /^\{\d+\} (\S.*?)(?: \[([\d.]+)s\])? \.\.\. (ok|FAILED|SKIPPED)(?:: (.*))?$/.exec(line.trim()) ?? [];
  if (id === undefined || outcome === undefined) return undefined;
  return { id, seconds: Number(seconds), outcome: outcomes[outcome] ?? 'failed', reason };
}

/** A few lines about all of them; the last one is as vitest's, which counts the tests of suites. */
export function summary(results: readonly Result[], others: { failed: number; passed: number }): string {
  const skipped = new Map<string, number>();
  const count = { passed: others.passed, failed: others.failed, skipped: 0 };
  for (const { outcome, reason } of results) {
    count[outcome]++;
    if (outcome === 'skipped') skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  const reasons = [...skipped].sort(([, one], [, other]) => other - one);
  const counts = [
    ...(count.failed > 0 ? [`${count.failed} failed`] : []),
    `${count.passed} passed`,
    ...(count.skipped > 0 ? [`${count.skipped} skipped`] : []),
  ];
  return [
    ...(reasons.length > 0 ? ['Skipped, as the cloud does not offer it:'] : []),
    ...reasons.map(([reason, times]) => `${String(times).padStart(6)}  ${reason}`),
    '',
    ...results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => `FAIL  ${id}`),
    `      Tests  ${counts.join(' | ')} (${count.passed + count.failed + count.skipped})`,
  ].join('\n');
}
