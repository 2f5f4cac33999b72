import { createMetrics } from '@openstack-operator/kube';
import { conditionMetrics } from '@openstack-operator/operator';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { prometheusRules } from './prometheus-rules.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

test('alerts ask for metrics that the operator has, and speak of labels that they keep', () => {
  const registry = new Registry();
  createMetrics(registry);
  conditionMetrics(registry, () => []);
  const metrics = new Map(
    (registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[]).map(
      ({ name, labelNames }) => [name, labelNames] as const,
    ),
  );
  const [file] = prometheusRules();
  const { spec } = parse(file?.content ?? '') as { spec: { groups: { rules: Rule[] }[] } };
  const rules = spec.groups.flatMap(({ rules }) => rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, annotations } of rules) {
    const [metric = ''] = expr.match(/\b[a-z]+(?:_[a-z]+){2,}\b(?!\()/) ?? [];
    const labels = metrics.get(metric);
    expect(labels, `${alert}: ${metric}`).toBeDefined();
    const kept = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? labels ?? [];
    const said = [
      ...Object.values(annotations)
        .join()
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label]) => label);
    for (const label of [...said, ...[...expr.matchAll(/(\w+)[!=]~?"/g)].map(([, one]) => one)])
      expect(labels, `${alert}: ${label}`).toContain(label);
    expect(kept, alert).toEqual(expect.arrayContaining(said));
  }
});
