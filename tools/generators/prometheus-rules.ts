import { type Effect, reasons } from '@openstack-operator/openstack';
import { stringify } from 'yaml';
import { type GeneratedFile, generatedNotice } from './generated-file.ts';

/** Alerts for the Prometheus operator: what of the resources' conditions and of the operator itself calls for somebody. */
export function prometheusRules(): readonly GeneratedFile[] {
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: {
      name: 'openstack-operator',
      labels: { 'app.kubernetes.io/name': 'openstack-operator', 'app.kubernetes.io/part-of': 'openstack-operator' },
    },
    spec: {
      groups: [
        { name: 'openstack-resources', rules: resourceAlerts },
        { name: 'openstack-operator', rules: operatorAlerts },
      ],
    },
  };
  return [
    {
      path: 'config/monitoring/prometheus_rule.yaml',
      content: `# ${generatedNotice}\n${stringify(rule, { lineWidth: 0 })}`,
    },
  ];
}

/**
 * Conditions of steps with this status, and a reason of one of these effects, whichever replica of the operator reports
 * them. A pause is nobody's failure. `over`: how long a condition counts that has another reason in between.
 */
function steps(status: 'True' | 'False', effects: readonly Effect[], over?: string): string {
  const names = Object.entries(reasons).flatMap(([name, { effect }]) =>
    effects.includes(effect) && name !== 'Paused' ? [name] : [],
  );
  const series = `openstack_resource_condition{type!="Ready",status="${status}",reason=~"${names.join('|')}"}`;
  return over === undefined
    ? `max by (namespace, name, kind, type, reason) (${series})`
    : `max by (namespace, name, kind, type) (max_over_time(${series}[${over}]))`;
}

const resource = '{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }}';
const message =
  'kubectl describe {{ $labels.kind }} {{ $labels.name }} -n {{ $labels.namespace }} shows the reason and the message. docs/reference/conditions.md says what a reason means.';

/** One alert. `wait` as Prometheus writes durations. */
function alert(name: string, severity: 'critical' | 'warning', expr: string, wait: string, texts: readonly string[]) {
  const [summary, description] = texts;
  return { alert: name, expr, for: wait, labels: { severity }, annotations: { summary, description } };
}

const resourceAlerts = [
  alert('OpenStackResourceStuck', 'critical', steps('False', ['stuck']), '1m', [
    `${resource} waits for somebody: {{ $labels.type }} ({{ $labels.reason }})`,
    message,
  ]),
  alert('OpenStackResourceFailing', 'critical', steps('False', ['stalled', 'retried'], '5m'), '10m', [
    `${resource} has failed to become Ready for 10 minutes: {{ $labels.type }}`,
    message,
  ]),
  alert('OpenStackResourceDegraded', 'warning', steps('True', ['degraded']), '10m', [
    `${resource} works, but a part of it does not: {{ $labels.type }}`,
    message,
  ]),
  alert(
    'OpenStackResourceNotReady',
    'warning',
    'max by (namespace, name, kind) (openstack_resource_condition{type="Ready",status!="True"})',
    '1h',
    [`${resource} has not been Ready for an hour`, message],
  ),
];

const operatorAlerts = [
  alert('OpenStackOperatorAbsent', 'critical', 'absent(leader_election_master_status == 1)', '5m', [
    'No openstack-operator holds the lease',
    'Clouds run on, and nobody corrects or changes them. Look at the Deployment openstack-operator in openstack-operator-system.',
  ]),
  alert('OpenStackOperatorErrors', 'warning', 'increase(controller_runtime_reconcile_errors_total[10m]) > 0', '30m', [
    'Reconciliations of {{ $labels.controller }} have failed for 30 minutes',
    'The log of the operator names the objects and the errors.',
  ]),
  alert('OpenStackOperatorPanics', 'warning', 'increase(controller_runtime_reconcile_panics_total[10m]) > 0', '0m', [
    'A reconciliation of {{ $labels.controller }} met an error in the program',
    'The log of the operator has it, with its stack. Please report it.',
  ]),
  alert('OpenStackOperatorBusy', 'warning', 'workqueue_longest_running_processor_seconds > 600', '0m', [
    'A reconciliation of {{ $labels.controller }} has run for more than 10 minutes',
    'The API server may be slow, or may not answer.',
  ]),
  alert('OpenStackConditionsOmitted', 'warning', 'openstack_resource_conditions_omitted > 0', '10m', [
    '{{ $value }} conditions are not reported',
    'There are more than 50,000. Alerts may be missing for resources beyond these.',
  ]),
];
