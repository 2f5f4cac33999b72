import { duplicate, forbidden, invalid, notSupported, required } from '../field-error.ts';
import { isObject, type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import { type LabelSelector, validateLabelSelector, validateLabels } from '../metadata.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isQualifiedName } from '../names.ts';
import { child, index } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { validateContainers, validateIds, validateInitContainers } from './pod-containers.ts';
import { validateVolumes } from './pod-volumes.ts';

/** How a pod's spec is looked at. */
export interface PodSpecOptions {
  /** Names of volumes that come from elsewhere: a StatefulSet's claim templates. */
  readonly volumes?: readonly string[];
  /** A StatefulSet sets host name and subdomain itself. */
  readonly ignoreHostname?: boolean;
}

/** Checks a pod's spec (ValidatePodSpec), given with its defaults. */
export function validatePodSpec(spec: JsonObject, path: string, options: PodSpecOptions = {}): FieldError[] {
  const extra = options.volumes ?? [];
  const own = objectsOf(spec.volumes).filter(({ name }) => !extra.includes(textOf(name)));
  const { names, errors } = validateVolumes(own, child(path, 'volumes'));
  const volumes = new Set([...names, ...extra]);
  errors.push(...validateContainers(spec.containers, volumes, child(path, 'containers')));
  errors.push(...validateInitContainers(spec.initContainers, spec.containers, volumes, child(path, 'initContainers')));
  if (spec.hostNetwork === true) errors.push(...validateHostNetwork(spec, path));
  errors.push(...oneOf(spec.restartPolicy, ['Always', 'OnFailure', 'Never'], child(path, 'restartPolicy')));
  errors.push(
    ...oneOf(spec.dnsPolicy, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], child(path, 'dnsPolicy')),
  );
  errors.push(...validateLabels(objectOf(spec.nodeSelector) as Record<string, string>, child(path, 'nodeSelector')));
  errors.push(...validateIds(objectOf(spec.securityContext), child(path, 'securityContext')));
  errors.push(...validateAffinity(objectOf(spec.affinity), child(path, 'affinity')));
  errors.push(...validateSpread(spec.topologySpreadConstraints, child(path, 'topologySpreadConstraints')));
  errors.push(
    ...named(spec, path, 'serviceAccountName', isDnsSubdomain),
    ...named(spec, path, 'nodeName', isDnsSubdomain),
  );
  const deadline = spec.activeDeadlineSeconds;
  if (typeof deadline === 'number' && (deadline < 1 || deadline > 2_147_483_647)) {
    errors.push(invalid(child(path, 'activeDeadlineSeconds'), deadline, 'must be between 1 and 2147483647, inclusive'));
  }
  if (options.ignoreHostname !== true) {
    errors.push(...named(spec, path, 'hostname', isDnsLabel), ...named(spec, path, 'subdomain', isDnsLabel));
  }
  errors.push(...validateTolerations(spec.tolerations, child(path, 'tolerations')));
  return [...errors, ...named(spec, path, 'priorityClassName', isDnsSubdomain)];
}

function oneOf(value: unknown, values: readonly string[], path: string): FieldError[] {
  if (!value) return [required(path)];
  return values.includes(textOf(value)) ? [] : [notSupported(path, value, values)];
}

function named(spec: JsonObject, path: string, field: string, check: (name: string) => string[]): FieldError[] {
  const name = textOf(spec[field]);
  return name === '' ? [] : check(name).map((message) => invalid(child(path, field), name, message));
}

/** With the node's network, a container's ports are the node's. */
function validateHostNetwork(spec: JsonObject, path: string): FieldError[] {
  return ['containers', 'initContainers'].flatMap((field) =>
    objectsOf(spec[field]).flatMap((container, position) =>
      objectsOf(container.ports).flatMap((port, portPosition) => {
        const host = numberOf(port.hostPort);
        if (host === 0 || host === numberOf(port.containerPort)) return [];
        const at = index(child(index(child(path, field), position), 'ports'), portPosition);
        return [invalid(child(at, 'hostPort'), host, 'must match `containerPort` when `hostNetwork` is true')];
      }),
    ),
  );
}

function validateTolerations(tolerations: unknown, path: string): FieldError[] {
  return objectsOf(tolerations).flatMap((toleration, position) => {
    const at = index(path, position);
    const { key = '', operator = '', value = '', effect = '' } = toleration as Record<string, string>;
    const errors = key === '' ? [] : isQualifiedName(key).map((message) => invalid(child(at, 'key'), key, message));
    if (key === '' && operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalid(child(at, 'operator'), operator, detail));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      errors.push(invalid(child(at, 'effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (operator === 'Equal' || operator === '') {
      const messages = isLabelValue(value);
      if (messages.length > 0) errors.push(invalid(child(at, 'operator'), value, messages.join(';')));
    } else if (operator === 'Exists') {
      if (value !== '') {
        errors.push(invalid(child(at, 'operator'), value, "value must be empty when `operator` is 'Exists'"));
      }
    } else errors.push(notSupported(child(at, 'operator'), operator, ['Equal', 'Exists']));
    const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
    if (effect !== '' && !effects.includes(effect)) errors.push(notSupported(child(at, 'effect'), effect, effects));
    return errors;
  });
}

function validateAffinity(affinity: JsonObject, path: string): FieldError[] {
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const rules = objectOf(affinity[kind]);
    const at = child(path, kind);
    const needed = 'requiredDuringSchedulingIgnoredDuringExecution';
    const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
    return [
      ...objectsOf(rules[needed]).flatMap((term, position) => validateTerm(term, index(child(at, needed), position))),
      ...objectsOf(rules[preferred]).flatMap((weighted, position) => {
        const place = index(child(at, preferred), position);
        const weight = numberOf(weighted.weight);
        const wrong =
          weight < 1 || weight > 100 ? [invalid(child(place, 'weight'), weight, 'must be in the range 1-100')] : [];
        return [...wrong, ...validateTerm(objectOf(weighted.podAffinityTerm), child(place, 'podAffinityTerm'))];
      }),
    ];
  });
}

function validateTerm(term: JsonObject, path: string): FieldError[] {
  const errors = validateLabelSelector(term.labelSelector as LabelSelector | undefined, child(path, 'labelSelector'));
  const key = textOf(term.topologyKey);
  if (key === '') errors.push(required(child(path, 'topologyKey'), 'can not be empty'));
  return [...errors, ...isQualifiedName(key).map((message) => invalid(child(path, 'topologyKey'), key, message))];
}

function validateSpread(constraints: unknown, path: string): FieldError[] {
  const seen = new Set<string>();
  return objectsOf(constraints).flatMap((constraint, position) => {
    const at = index(path, position);
    const errors: FieldError[] = [];
    const skew = numberOf(constraint.maxSkew);
    if (skew <= 0) errors.push(invalid(child(at, 'maxSkew'), skew, 'must be greater than zero'));
    const key = textOf(constraint.topologyKey);
    if (key === '') errors.push(required(child(at, 'topologyKey'), 'can not be empty'));
    const actions = ['DoNotSchedule', 'ScheduleAnyway'];
    const action = textOf(constraint.whenUnsatisfiable);
    if (!actions.includes(action)) errors.push(notSupported(child(at, 'whenUnsatisfiable'), action, actions));
    const pair = `{${key}, ${action}}`;
    if (seen.has(pair)) errors.push(duplicate(child(at, '{topologyKey, whenUnsatisfiable}'), pair));
    seen.add(pair);
    const selector = constraint.labelSelector as LabelSelector | undefined;
    return [...errors, ...validateLabelSelector(selector, child(at, 'labelSelector'))];
  });
}

/** Checks a pod template: labels, annotations, spec, and that it holds no ephemeral containers. */
export function validatePodTemplate(template: unknown, path: string, options: PodSpecOptions = {}): FieldError[] {
  const { metadata, spec } = objectOf(template);
  const labels = objectOf(metadata).labels as Record<string, string> | undefined;
  const errors = validateLabels(labels, child(path, 'labels'));
  for (const name of Object.keys(objectOf(objectOf(metadata).annotations))) {
    errors.push(...isQualifiedName(name.toLowerCase()).map((m) => invalid(child(path, 'annotations'), name, m)));
  }
  errors.push(...validatePodSpec(objectOf(spec), child(path, 'spec'), options));
  if (isObject(spec) && objectsOf(spec.ephemeralContainers).length > 0) {
    errors.push(forbidden(child(path, 'spec.ephemeralContainers'), 'ephemeral containers not allowed in pod template'));
  }
  return errors;
}
