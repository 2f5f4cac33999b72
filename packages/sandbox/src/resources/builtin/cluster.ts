import type { KubeObject } from '@openstack-operator/kube';
import { duplicate, invalid, required } from '../field-error.ts';
import { isObject, objectOf, objectsOf, textOf } from '../json.ts';
import { validateImmutable } from '../metadata.ts';
import { isLabelValue, isQualifiedName, labelName } from '../names.ts';
import { child, index } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, nameOf, specOf, statusOf } from './cells.ts';

/** `v1/Namespace`. */
export const namespace = builtinType('v1/Namespace', {
  name: labelName,
  selectableFields: ['status.phase', 'name'],
  prepareForCreate(object) {
    object.status = { phase: 'Active' };
    const spec = isObject(object.spec) ? object.spec : {};
    const finalizers = Array.isArray(spec.finalizers) ? spec.finalizers : [];
    object.spec = {
      ...spec,
      finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
    };
  },
  prepareForUpdate(object, old) {
    // Finalizers of a namespace change through its finalize subresource only.
    object.spec = structuredClone(old.spec);
  },
  validate: (object) =>
    object.metadata.labels?.['kubernetes.io/metadata.name'] === object.metadata.name
      ? []
      : [
          invalid(
            'metadata.labels[kubernetes.io/metadata.name]',
            object.metadata.labels?.['kubernetes.io/metadata.name'] ?? '',
            `must be ${object.metadata.name}`,
          ),
        ],
  row: (object, now) => [nameOf(object), textOf(statusOf(object).phase), ageOf(object, now)],
});

function nodeStatus(node: KubeObject): string {
  const ready = objectsOf(statusOf(node).conditions).find((condition) => condition.type === 'Ready');
  const state = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return specOf(node).unschedulable === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles(node: KubeObject): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([label, value]) => {
    if (label.startsWith('node-role.kubernetes.io/')) return [label.slice('node-role.kubernetes.io/'.length)];
    return label === 'kubernetes.io/role' ? [value] : [];
  });
  const named = [...new Set(roles.filter((role) => role !== ''))].sort();
  return named.length > 0 ? named.join(',') : '<none>';
}

function validateTaints(taints: unknown, path: string): FieldError[] {
  const seen = new Set<string>();
  return objectsOf(taints).flatMap((taint, position) => {
    const at = index(path, position);
    const name = textOf(taint.key);
    const effect = textOf(taint.effect);
    const errors = isQualifiedName(name).map((message) => invalid(child(at, 'key'), name, message));
    errors.push(
      ...isLabelValue(textOf(taint.value)).map((message) => invalid(child(at, 'value'), taint.value, message)),
    );
    const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
    if (effect === '') errors.push(required(child(at, 'effect')));
    else if (!effects.includes(effect)) {
      errors.push({
        type: 'NotSupported',
        field: child(at, 'effect'),
        value: effect,
        detail: `supported values: ${effects.map((known) => JSON.stringify(known)).join(', ')}`,
      });
    }
    if (seen.has(`${name}:${effect}`))
      errors.push({ ...duplicate(at, taint), detail: 'taints must be unique by key and effect pair' });
    seen.add(`${name}:${effect}`);
    return errors;
  });
}

/** `v1/Node`. */
export const node = builtinType('v1/Node', {
  without: ['proxy'],
  selectableFields: ['spec.unschedulable'],
  validate: (object) => validateTaints(specOf(object).taints, 'metadata.taints'),
  validateUpdate(object, old) {
    const { podCIDR, providerID } = specOf(old);
    return [
      ...(podCIDR ? validateImmutable(specOf(object).podCIDR, podCIDR, 'spec.podCIDR') : []),
      ...(providerID ? validateImmutable(specOf(object).providerID, providerID, 'spec.providerID') : []),
    ];
  },
  row(object, now) {
    const status = statusOf(object);
    const info = objectOf(status.nodeInfo);
    const address = (type: string) =>
      textOf(objectsOf(status.addresses).find((candidate) => candidate.type === type)?.address) || '<none>';
    const architecture = textOf(info.architecture);
    const kernel = textOf(info.kernelVersion) || '<unknown>';
    return [
      nameOf(object),
      nodeStatus(object),
      nodeRoles(object),
      ageOf(object, now),
      textOf(info.kubeletVersion),
      address('InternalIP'),
      address('ExternalIP'),
      textOf(info.osImage) || '<unknown>',
      architecture === '' ? kernel : `${kernel} (${architecture})`,
      textOf(info.containerRuntimeVersion) || '<unknown>',
    ];
  },
});

/** `coordination.k8s.io/v1/Lease`. */
export const lease = builtinType('coordination.k8s.io/v1/Lease', {
  validate(object) {
    const spec = specOf(object);
    const errors: FieldError[] = [];
    if (typeof spec.leaseDurationSeconds === 'number' && spec.leaseDurationSeconds <= 0) {
      errors.push(invalid('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0'));
    }
    if (typeof spec.leaseTransitions === 'number' && spec.leaseTransitions < 0) {
      errors.push(invalid('spec.leaseTransitions', spec.leaseTransitions, 'must be greater than or equal to 0'));
    }
    return errors;
  },
  row: (object, now) => [nameOf(object), textOf(specOf(object).holderIdentity), ageOf(object, now)],
});

/** `scheduling.k8s.io/v1/PriorityClass`. */
export const priorityClass = builtinType('scheduling.k8s.io/v1/PriorityClass', {
  prepareForCreate(object) {
    object.metadata.generation = 1;
  },
  validate(object) {
    const value = Number(object.value);
    const system = nameOf(object).startsWith('system-');
    if (!system && value > 1_000_000_000) {
      return [
        { type: 'Forbidden', field: 'value', detail: 'maximum allowed value of a user defined priority is 1000000000' },
      ];
    }
    return system && !['system-cluster-critical', 'system-node-critical'].includes(nameOf(object))
      ? [
          {
            type: 'Forbidden',
            field: 'metadata.name',
            detail: "priority class names with 'system-' prefix are reserved for system use only",
          },
        ]
      : [];
  },
  validateUpdate: (object, old) => [
    ...(object.value === old.value
      ? []
      : [{ type: 'Forbidden', field: 'value', detail: 'may not be changed in an update.' } as const]),
    ...validateImmutable(object.preemptionPolicy, old.preemptionPolicy, 'preemptionPolicy'),
  ],
  row: (object, now) => [
    nameOf(object),
    Number(object.value ?? 0),
    object.globalDefault === true,
    ageOf(object, now),
    textOf(object.preemptionPolicy),
  ],
});
