import type { Status } from '@openstack-operator/kube';
import { aggregate, fieldErrorBody, fieldErrorMessage, fieldErrorReason, quote } from '../resources/field-error.ts';
import type { FieldError } from '../resources/resource-type.ts';

/** Group and plural of a kind, as error messages name it: `deployments.apps`, or `pods` in the core group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** The API server's refusal, thrown by every handler and written to the client as `metav1.Status`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: Status & { code: number };

  constructor(code: number, reason: string, message: string, details?: Status['details']) {
    super(message);
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      code,
    };
  }
}

/** `plural.group`, or the plural alone in the core group. */
export function qualified({ group, resource }: GroupResource): string {
  return group ? `${resource}.${group}` : resource;
}

function about({ group, resource }: GroupResource, name?: string): NonNullable<Status['details']> {
  return { ...(name && { name }), ...(group && { group }), kind: resource };
}

/** 404: no object of that name. */
export function notFound(resource: GroupResource, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(resource)} ${quote(name)} not found`, about(resource, name));
}

/** 404 for a path that no handler serves: client-go calls it "the server could not find the requested resource". */
export function pathNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** 409 on create. */
export function alreadyExists(resource: GroupResource, name: string): StatusError {
  const message = `${qualified(resource)} ${quote(name)} already exists`;
  return new StatusError(409, 'AlreadyExists', message, about(resource, name));
}

/** 409 when a generated name is taken. */
export function generateNameConflict(resource: GroupResource, name: string): StatusError {
  const message = `${qualified(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`;
  return new StatusError(409, 'AlreadyExists', message, { ...about(resource, name), retryAfterSeconds: 1 });
}

/** 409 on a guarded write. */
export function conflict(resource: GroupResource, name: string, because: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} ${quote(name)}: ${because}`;
  return new StatusError(409, 'Conflict', message, about(resource, name));
}

/** The words of a resourceVersion conflict. */
export const OPTIMISTIC_LOCK =
  'the object has been modified; please apply your changes to the latest version and try again';

/** 403: refused by authorization, admission or a rule of the kind. */
export function forbidden(resource: GroupResource, name: string, because: string): StatusError {
  let subject = 'forbidden';
  if (resource.resource) subject = `${qualified(resource)} ${name ? `${quote(name)} ` : ''}is forbidden`;
  return new StatusError(403, 'Forbidden', `${subject}: ${because}`, about(resource, name));
}

/** 400. */
export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

/** 405: the path is served, the method is not. */
export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError(405, 'MethodNotAllowed', message, {});
}

/** 410: what the client holds is older than what the server remembers. */
export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

/** 429. */
export function tooManyRequests(message: string, retryAfterSeconds: number, details?: Status['details']): StatusError {
  return new StatusError(429, 'TooManyRequests', message, {
    ...details,
    ...(retryAfterSeconds && { retryAfterSeconds }),
  });
}

/** 500. */
export function internalError(message: string): StatusError {
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** 501: a real API server offers it, the sandbox does not; the message says so. */
export function notOffered(what: string): StatusError {
  const message = `the sandbox API server does not offer ${what} (packages/sandbox/README.md lists what it offers)`;
  return new StatusError(501, 'NotImplemented', message);
}

/** 422 with one cause for each wrong field. `kind` is the Kind (`Deployment`), not the plural. */
export function invalid(
  { group, kind }: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const causes = errors.map((error) => ({
    reason: fieldErrorReason(error),
    message: fieldErrorBody(error),
    field: error.field,
  }));
  const list = errors.length ? `: ${aggregate(errors.map(fieldErrorMessage))}` : '';
  const subject = kind || group ? qualified({ group, resource: kind }) : '';
  return new StatusError(422, 'Invalid', `${subject} ${quote(name)} is invalid${list}`, {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    ...(causes.length && { causes }),
  });
}
