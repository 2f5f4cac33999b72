import type { KubeObject } from '@openstack-operator/kube';
import { isObject, type JsonObject, objectOf, objectsOf } from '../json.ts';
import { builtinType } from './builtin-type.ts';
import { statusOf } from './cells.ts';
import { podRow } from './pod-row.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validatePodUpdate } from './pod-update.ts';
import { qualityOfService } from './quality-of-service.ts';

/** A pod outlives its node's absence by five minutes, unless it says otherwise (admission plugin DefaultTolerationSeconds). */
function tolerateLostNodes(spec: JsonObject): void {
  const tolerations = objectsOf(spec.tolerations);
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const tolerated = tolerations.some(
      (toleration) =>
        (toleration.key === key || !toleration.key) && (toleration.effect === 'NoExecute' || !toleration.effect),
    );
    if (!tolerated) tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  }
  spec.tolerations = tolerations;
}

/** A pod of no class is of priority 0 unless admission gave it one (controllers/admission.ts). */
function fillPriority(spec: JsonObject): void {
  spec.priority ??= 0;
  spec.preemptionPolicy ??= 'PreemptLowerPriority';
}

/**
 * What rules compare by the keys of labels alone, they are told by its own labels (mutatePodAffinity and
 * mutateTopologySpreadConstraints, pkg/registry/core/pod/strategy.go).
 */
function applyLabelKeys(spec: JsonObject, labels: Readonly<Record<string, string>>): void {
  const affinity = objectOf(spec.affinity);
  const terms = [objectOf(affinity.podAffinity), objectOf(affinity.podAntiAffinity)].flatMap((rules) => [
    ...objectsOf(rules.requiredDuringSchedulingIgnoredDuringExecution),
    ...objectsOf(rules.preferredDuringSchedulingIgnoredDuringExecution).map(({ podAffinityTerm }) =>
      objectOf(podAffinityTerm),
    ),
  ]);
  for (const term of [...terms, ...objectsOf(spec.topologySpreadConstraints)]) {
    if (!isObject(term.labelSelector)) continue;
    const expressions = [
      ...requirements(term.matchLabelKeys, 'In', labels),
      ...requirements(term.mismatchLabelKeys, 'NotIn', labels),
    ];
    if (expressions.length === 0) continue;
    term.labelSelector.matchExpressions = [...objectsOf(term.labelSelector.matchExpressions), ...expressions];
  }
}

function requirements(keys: unknown, operator: string, labels: Readonly<Record<string, string>>): JsonObject[] {
  return (Array.isArray(keys) ? (keys as string[]) : []).flatMap((key) => {
    const value = labels[key];
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

/** `v1/Pod`. */
export const pod = builtinType('v1/Pod', {
  hasGeneration: true,
  without: ['attach', 'exec', 'portforward', 'proxy', 'resize'],
  selectableFields: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  prepareForCreate(object) {
    const spec = object.spec as JsonObject;
    tolerateLostNodes(spec);
    applyLabelKeys(spec, object.metadata.labels ?? {});
    if (!spec.priorityClassName) fillPriority(spec);
    object.status = { phase: 'Pending', qosClass: qualityOfService(spec) };
    if (Array.isArray(spec.schedulingGates) && spec.schedulingGates.length > 0) {
      (object.status as JsonObject).conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ];
    }
  },
  prepareForUpdate(object: KubeObject, old: KubeObject) {
    // A pod's class of service never changes.
    const { qosClass } = statusOf(old);
    if (object.status && qosClass !== undefined) object.status = { ...(object.status as JsonObject), qosClass };
  },
  validate: (object) => validatePodSpec(object.spec as JsonObject, 'spec'),
  validateUpdate: validatePodUpdate,
  row: podRow,
});
