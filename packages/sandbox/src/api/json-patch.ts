import { deepEqual, isObject, type JsonObject } from '../resources/json.ts';
import { badRequest, StatusError } from './status.ts';

// Own code: the API server's words for a failed operation are those of evanphx/json-patch, which no npm package has.

interface Operation {
  readonly op: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: unknown;
}

/**
 * Applies an RFC 6902 patch to `document`, in place.
 * @throws StatusError 400 when the patch is none, 422 when an operation fails
 */
export function applyJsonPatch<T>(document: T, patch: unknown): T {
  if (!Array.isArray(patch)) {
    const type = isObject(patch) ? 'object' : typeof patch;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${type} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  const root: JsonObject = { '': document };
  for (const operation of patch as Operation[]) apply(root, operation);
  return root[''] as T;
}

function apply(root: JsonObject, operation: Operation): void {
  const { op, path = '', from = '', value } = operation;
  switch (op) {
    case 'add':
      return add(root, path, required(operation), 'add');
    case 'remove': {
      const [parent, key] = locate(
        root,
        path,
        () => `remove operation does not apply: doc is missing path: "${path}": missing value`,
      );
      return remove(parent, key, path);
    }
    case 'replace': {
      const [parent, key] = locate(
        root,
        path,
        () => `replace operation does not apply: doc is missing path: ${path}: missing value`,
      );
      // Of an object any key may be replaced, there or not: the library upstream looks at lists alone.
      if (Array.isArray(parent)) index(parent, key, parent.length - 1, path, 'replace');
      return store(parent, key, required(operation));
    }
    case 'move': {
      const [parent, key] = locate(
        root,
        from,
        () => `move operation does not apply: doc is missing from path: ${from}: missing value`,
      );
      const moved = lookup(parent, key);
      remove(parent, key, from);
      return add(root, path, moved, 'move');
    }
    case 'copy': {
      const [parent, key] = locate(
        root,
        from,
        () => `copy operation does not apply: doc is missing from path: ${from}: missing value`,
      );
      return add(root, path, structuredClone(lookup(parent, key)), 'copy');
    }
    case 'test': {
      const [parent, key] = locate(
        root,
        path,
        () => `test operation does not apply: is missing path: ${path}: missing value`,
      );
      if (deepEqual(lookup(parent, key) ?? null, value ?? null)) return;
      throw refused(`testing value ${path} failed: test failed`);
    }
    default:
      throw refused(`Unexpected kind: ${op}`);
  }
}

function required(operation: Operation): unknown {
  if ('value' in operation) return operation.value;
  throw refused('operation, missing value field: missing value');
}

function add(root: JsonObject, path: string, value: unknown, op: string): void {
  const [parent, key] = locate(root, path, () =>
    op === 'add'
      ? `add operation does not apply: doc is missing path: "${path}": missing value`
      : `${op} operation does not apply: doc is missing destination path: ${path}: missing value`,
  );
  if (!Array.isArray(parent)) return store(parent, key, value);
  if (key === '-') parent.push(value);
  else parent.splice(index(parent, key, parent.length, path, op), 0, value);
}

function remove(parent: Container, key: string, path: string): void {
  if (Array.isArray(parent)) parent.splice(index(parent, key, parent.length - 1, path, 'remove'), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw refused(`error in remove for path: '${path}': Unable to remove nonexistent key: ${key}: missing value`);
}

type Container = JsonObject | unknown[];

/** The container and the last step of a pointer. */
function locate(root: JsonObject, path: string, missing: () => string): [Container, string] {
  const steps = path.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (path === '') return [root, ''];
  let here: unknown = root[''];
  for (const step of steps.slice(1, -1)) {
    here = isContainer(here) ? lookup(here, step) : undefined;
  }
  if (!isContainer(here)) throw refused(missing());
  return [here, steps.at(-1) ?? ''];
}

function lookup(parent: Container, key: string): unknown {
  if (!Array.isArray(parent)) return Object.hasOwn(parent, key) ? parent[key] : undefined;
  return parent[Number(key)];
}

function store(parent: Container, key: string, value: unknown): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else parent[key] = value;
}

function index(list: unknown[], key: string, most: number, path: string, op: string): number {
  const position = Number(key);
  if (!Number.isInteger(position)) {
    throw refused(
      `error in ${op} for path: '${path}': value was not a proper array index: '${key}': strconv.Atoi: parsing "${key}": invalid syntax`,
    );
  }
  if (position > most || position < -list.length) {
    throw refused(
      `error in ${op} for path: '${path}': Unable to access invalid index: ${key}: invalid index referenced`,
    );
  }
  return position < 0 ? position + list.length : position;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

/** 422 with the generic words: upstream hides the real ones behind them for an empty resource. */
function refused(message: string): StatusError {
  const words = 'the server rejected our request due to an error in our request';
  const error = new StatusError(422, 'Invalid', words, {});
  error.cause = message;
  return error;
}
