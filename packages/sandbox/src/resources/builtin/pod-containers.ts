import { duplicate, forbidden, invalid, notSupported, required } from '../field-error.ts';
import { isObject, type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import { isConfigKey, isDnsLabel, isDnsSubdomain, isEnvName, isPortName, isPortNumber } from '../names.ts';
import { child, index } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { validateLifecycle, validateProbe } from './pod-probes.ts';
import { validateResources } from './pod-resources.ts';
import { validateMounts } from './pod-volumes.ts';

/** Checks `containers`: at least one, each well formed, names and host ports unique. */
export function validateContainers(containers: unknown, volumes: ReadonlySet<string>, path: string): FieldError[] {
  const list = objectsOf(containers);
  if (list.length === 0) return [required(path)];
  const names = new Set<string>();
  const errors = list.flatMap((container, position) => {
    const at = index(path, position);
    const own = validateContainer(container, volumes, at);
    const name = textOf(container.name);
    if (names.has(name)) own.push(duplicate(child(at, 'name'), name));
    names.add(name);
    own.push(...validateLifecycle(container.lifecycle, child(at, 'lifecycle')), ...validateProbes(container, at));
    return own;
  });
  return [...errors, ...hostPortConflicts(list, path)];
}

/** Checks `initContainers`: probes and hooks for sidecars only; names differ from the main containers'. */
export function validateInitContainers(
  containers: unknown,
  regular: unknown,
  volumes: ReadonlySet<string>,
  path: string,
): FieldError[] {
  const names = new Set(objectsOf(regular).map(({ name }) => textOf(name)));
  return objectsOf(containers).flatMap((container, position) => {
    const at = index(path, position);
    const errors = validateContainer(container, volumes, at);
    const policy = container.restartPolicy;
    if (policy !== undefined && policy !== 'Always') {
      errors.push(notSupported(child(at, 'restartPolicy'), policy, ['Always']));
    }
    const name = textOf(container.name);
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    else if (name !== '') names.add(name);
    errors.push(...hostPortConflicts([container], path));
    if (policy === 'Always') {
      errors.push(...validateLifecycle(container.lifecycle, child(at, 'lifecycle')), ...validateProbes(container, at));
    } else {
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
        if (container[field] === undefined) continue;
        errors.push(forbidden(child(at, field), 'may not be set for init containers without restartPolicy=Always'));
      }
    }
    return errors;
  });
}

function validateProbes(container: JsonObject, path: string): FieldError[] {
  return [
    ...validateProbe(container.livenessProbe, child(path, 'livenessProbe'), 'liveness'),
    ...validateProbe(container.readinessProbe, child(path, 'readinessProbe'), 'readiness'),
    ...validateProbe(container.startupProbe, child(path, 'startupProbe'), 'startup'),
  ];
}

function validateContainer(container: JsonObject, volumes: ReadonlySet<string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = textOf(container.name);
  if (name === '') errors.push(required(child(path, 'name')));
  else errors.push(...isDnsLabel(name).map((message) => invalid(child(path, 'name'), name, message)));
  if (!container.image) errors.push(required(child(path, 'image')));
  const policies = ['File', 'FallbackToLogsOnError'];
  if (!policies.includes(textOf(container.terminationMessagePolicy))) {
    errors.push(notSupported(child(path, 'terminationMessagePolicy'), container.terminationMessagePolicy, policies));
  }
  errors.push(...validatePorts(container.ports, child(path, 'ports')));
  errors.push(...validateEnv(container.env, child(path, 'env')));
  errors.push(...validateEnvFrom(container.envFrom, child(path, 'envFrom')));
  errors.push(...validateMounts(container.volumeMounts, volumes, child(path, 'volumeMounts')));
  const pull = ['Always', 'IfNotPresent', 'Never'];
  if (!pull.includes(textOf(container.imagePullPolicy))) {
    errors.push(notSupported(child(path, 'imagePullPolicy'), container.imagePullPolicy, pull));
  }
  errors.push(...validateResources(container.resources, child(path, 'resources')));
  return [...errors, ...validateSecurityContext(container.securityContext, child(path, 'securityContext'))];
}

function validatePorts(ports: unknown, path: string): FieldError[] {
  const names = new Set<string>();
  return objectsOf(ports).flatMap((port, position) => {
    const at = index(path, position);
    const errors: FieldError[] = [];
    const name = textOf(port.name);
    if (name !== '') {
      const messages = isPortName(name);
      errors.push(...messages.map((message) => invalid(child(at, 'name'), name, message)));
      if (messages.length === 0 && names.has(name)) errors.push(duplicate(child(at, 'name'), name));
      names.add(name);
    }
    const number = numberOf(port.containerPort);
    if (number === 0) errors.push(required(child(at, 'containerPort')));
    else errors.push(...isPortNumber(number).map((message) => invalid(child(at, 'containerPort'), number, message)));
    const host = numberOf(port.hostPort);
    if (host !== 0) errors.push(...isPortNumber(host).map((message) => invalid(child(at, 'hostPort'), host, message)));
    const protocols = ['SCTP', 'TCP', 'UDP'];
    if (!protocols.includes(textOf(port.protocol))) {
      errors.push(notSupported(child(at, 'protocol'), port.protocol, protocols));
    }
    return errors;
  });
}

function hostPortConflicts(containers: readonly JsonObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return containers.flatMap((container, position) =>
    objectsOf(container.ports).flatMap((port, portPosition) => {
      const host = numberOf(port.hostPort);
      if (host === 0) return [];
      const text = `${textOf(port.protocol)}/${textOf(port.hostIP)}/${host}`;
      if (!seen.has(text)) {
        seen.add(text);
        return [];
      }
      return [duplicate(child(index(child(index(path, position), 'ports'), portPosition), 'hostPort'), text)];
    }),
  );
}

function validateEnv(variables: unknown, path: string): FieldError[] {
  return objectsOf(variables).flatMap((variable, position) => {
    const at = index(path, position);
    const name = textOf(variable.name);
    const errors =
      name === ''
        ? [required(child(at, 'name'))]
        : isEnvName(name).map((message) => invalid(child(at, 'name'), name, message));
    const from = variable.valueFrom;
    return isObject(from) ? [...errors, ...validateValueFrom(variable, from, child(at, 'valueFrom'))] : errors;
  });
}

function validateValueFrom(variable: JsonObject, from: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const given = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'].filter((name) =>
    isObject(from[name]),
  );
  for (const kind of ['configMapKeyRef', 'secretKeyRef']) {
    const reference = from[kind];
    if (!isObject(reference)) continue;
    const at = child(path, kind);
    const name = textOf(reference.name);
    errors.push(...isDnsSubdomain(name).map((message) => invalid(child(at, 'name'), name, message)));
    const key = textOf(reference.key);
    if (key === '') errors.push(required(child(at, 'key')));
    else errors.push(...isConfigKey(key).map((message) => invalid(child(at, 'key'), key, message)));
  }
  if (variable.value && given.length > 0) {
    errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (given.length > 1) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  } else if (given.length === 0) {
    errors.push(
      invalid(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    );
  }
  return errors;
}

function validateEnvFrom(sources: unknown, path: string): FieldError[] {
  return objectsOf(sources).flatMap((source, position) => {
    const at = index(path, position);
    const prefix = textOf(source.prefix);
    const errors =
      prefix === '' ? [] : isEnvName(prefix).map((message) => invalid(child(at, 'prefix'), prefix, message));
    const given = ['configMapRef', 'secretRef'].filter((name) => isObject(source[name]));
    for (const name of given) {
      const reference = textOf(objectOf(source[name]).name);
      const field = child(child(at, name), 'name');
      if (reference === '') errors.push(required(field));
      else errors.push(...isDnsSubdomain(reference).map((message) => invalid(field, reference, message)));
    }
    if (given.length === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (given.length > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
    return errors;
  });
}

function validateSecurityContext(context: unknown, path: string): FieldError[] {
  if (!isObject(context)) return [];
  const errors = validateIds(context, path);
  if (context.allowPrivilegeEscalation !== false) return errors;
  if (context.privileged === true) {
    errors.push(invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'));
  }
  const add = objectOf(context.capabilities).add;
  if (Array.isArray(add) && add.includes('CAP_SYS_ADMIN')) {
    errors.push(
      invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'),
    );
  }
  return errors;
}

/** Numeric ids of users and groups: 0 to 2^31-1. */
export function validateIds(context: JsonObject, path: string): FieldError[] {
  return ['runAsUser', 'runAsGroup', 'fsGroup'].flatMap((field) => {
    const id = context[field];
    const valid = typeof id !== 'number' || (id >= 0 && id <= 2_147_483_647);
    return valid ? [] : [invalid(child(path, field), id, 'must be between 0 and 2147483647, inclusive')];
  });
}
