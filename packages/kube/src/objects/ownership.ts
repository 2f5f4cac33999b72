import { controllerOf, keyOf, type StoredObject } from './objects.ts';

/** An object of the wanted name exists and has another owner. It is never taken over. */
export class ForeignObjectError extends Error {
  override readonly name = 'ForeignObjectError';
  readonly code = 'FOREIGN_OBJECT';
  /** The object, as `Kind namespace/name`. */
  readonly object: string;
  /** Who has it, in words. */
  readonly holder: string;
  /** Whether it has a controlling owner. */
  readonly controlled: boolean;

  constructor(live: StoredObject, owner: StoredObject) {
    const object = `${live.kind} ${keyOf(live)}`;
    const holder = holderOf(live, owner);
    super(
      `${object} exists and ${holder}; it is left alone. ` +
        `${owner.kind} ${keyOf(owner)} needs this name: rename one of the two, or delete the ${live.kind}`,
    );
    this.object = object;
    this.holder = holder;
    this.controlled = controllerOf(live) !== undefined;
  }
}

/**
 * Whether `owner` is the controlling owner of the object. A uid alone could stand in a reference to a kind that there is
 * not, which no admission policy looks for. The version does not count: an object keeps the reference while its owner's
 * API moves on.
 */
export function isControlledBy(object: StoredObject, owner: StoredObject): boolean {
  const controller = controllerOf(object);
  const groupOf = (apiVersion: string) => apiVersion.split('/', 1)[0];
  return (
    controller?.uid === owner.metadata.uid &&
    controller.kind === owner.kind &&
    groupOf(controller.apiVersion) === groupOf(owner.apiVersion)
  );
}

function holderOf(live: StoredObject, owner: StoredObject): string {
  const controller = controllerOf(live);
  if (controller) {
    const name = `${controller.kind} ${controller.name}`;
    const earlier = controller.kind === owner.kind && controller.name === owner.metadata.name;
    return earlier
      ? `belongs to an earlier ${name} (uid ${controller.uid}), with which it will be garbage-collected`
      : `belongs to ${name} (uid ${controller.uid})`;
  }
  const managers = new Set((live.metadata.managedFields ?? []).map(({ manager }) => manager));
  const written = managers.size === 0 ? '' : ` (written by ${[...managers].join(', ')})`;
  return `has no controlling owner${written}`;
}
