import { forbidden, invalid, notSupported, required } from '../field-error.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../json.ts';
import { isPortName, isPortNumber } from '../names.ts';
import { child } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { validateNonnegative } from './int-or-percent.ts';

/** Checks a probe: exactly one handler, no negative times; liveness and startup probes succeed at the first success. */
export function validateProbe(probe: unknown, path: string, kind: 'liveness' | 'readiness' | 'startup'): FieldError[] {
  if (!isObject(probe)) return [];
  const errors = validateHandler(probe, path);
  const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];
  errors.push(...counts.flatMap((field) => validateNonnegative(probe[field], child(path, field))));
  const grace = probe.terminationGracePeriodSeconds;
  const gracePath = child(path, 'terminationGracePeriodSeconds');
  if (typeof grace === 'number' && grace <= 0) errors.push(invalid(gracePath, grace, 'must be greater than 0'));
  if (kind === 'readiness') {
    if (typeof grace === 'number') errors.push(invalid(gracePath, grace, 'must not be set for readinessProbes'));
  } else if (probe.successThreshold !== 1) {
    errors.push(invalid(child(path, 'successThreshold'), probe.successThreshold, 'must be 1'));
  }
  return errors;
}

/** Checks `lifecycle`: each hook has exactly one handler. */
export function validateLifecycle(lifecycle: unknown, path: string): FieldError[] {
  if (!isObject(lifecycle)) return [];
  return ['postStart', 'preStop'].flatMap((hook) => {
    const handler = lifecycle[hook];
    return isObject(handler) ? validateHandler(handler, child(path, hook)) : [];
  });
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

function validateHandler(handler: JsonObject, path: string): FieldError[] {
  const [first, ...more] = handlers.filter((name) => isObject(handler[name]));
  if (first === undefined) return [required(path, 'must specify a handler type')];
  return [
    ...validateAction(first, objectOf(handler[first]), child(path, first)),
    ...more.map((name) => forbidden(child(path, name), 'may not specify more than 1 handler type')),
  ];
}

function validateAction(name: (typeof handlers)[number], action: JsonObject, path: string): FieldError[] {
  switch (name) {
    case 'exec':
      return Array.isArray(action.command) && action.command.length > 0 ? [] : [required(child(path, 'command'))];
    case 'httpGet': {
      const errors = validatePort(action.port, child(path, 'port'));
      if (!['HTTP', 'HTTPS'].includes(textOf(action.scheme))) {
        errors.push(notSupported(child(path, 'scheme'), action.scheme, ['HTTP', 'HTTPS']));
      }
      for (const header of objectsOf(action.httpHeaders)) {
        if (/^[-A-Za-z0-9]+$/.test(textOf(header.name))) continue;
        const message = `a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')`;
        errors.push(invalid(child(path, 'httpHeaders'), textOf(header.name), message));
      }
      return errors;
    }
    case 'tcpSocket':
      return validatePort(action.port, child(path, 'port'));
    case 'grpc':
      return validatePort(action.port, child(path, 'port'));
    case 'sleep':
      return [];
  }
}

/** A port's number, or the name of one (ValidatePortNumOrName). */
export function validatePort(port: unknown, path: string): FieldError[] {
  const messages = typeof port === 'string' ? isPortName(port) : isPortNumber(Number(port));
  return messages.map((message) => invalid(path, port, message));
}
