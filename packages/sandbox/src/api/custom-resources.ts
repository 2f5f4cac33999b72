import { type KubeObject, type StoredObject, timestamp } from '@openstack-operator/kube';
import { quote } from '../resources/field-error.ts';
import { deepEqual } from '../resources/json.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Core, WriteRequest } from './core.ts';
import { CRD_CLEANUP, deleteObject } from './delete.ts';
import type { User } from './request-info.ts';
import { forbidden } from './status.ts';
import { resourceIdOf } from './store.ts';
import { patchObject } from './write.ts';

/** Makes the ResourceType of one version of a CustomResourceDefinition. */
export type CustomTypeFactory = (crd: KubeObject, version: string) => ResourceType;

interface Names {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

interface CrdCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly lastTransitionTime?: string;
  readonly reason: string;
  readonly message: string;
}

interface Crd extends KubeObject {
  spec: {
    group: string;
    names: Names;
    versions: { name: string; served: boolean; storage: boolean; deprecated?: boolean; deprecationWarning?: string }[];
  };
  status?: { conditions?: CrdCondition[] | null; acceptedNames?: Names; storedVersions?: string[] | null };
}

const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';

/** What the server itself writes is written by it. */
const SERVER: User = { name: 'system:apiserver', groups: ['system:masters'] };

/** Serves the kinds of CustomResourceDefinitions, from the moment that one is stored until it is gone. */
export function serveCustomResources(core: Core, makeType: CustomTypeFactory): void {
  const { store, registry } = core;
  for (const crd of store.list(CRDS)) changed(crd);
  store.subscribe(CRDS, (event) => {
    if (event.type === 'DELETED') registry.remove(idOf(event.object));
    else changed(event.object);
  });
  // The last instance of a definition that is going takes it along.
  store.subscribe(undefined, (event) => {
    if (event.type !== 'DELETED' || event.resource === CRDS) return;
    // A definition is named as its shelf is.
    const crd = store.get(CRDS, event.resource);
    if (crd?.metadata.deletionTimestamp) cleanUp(crd);
  });
  core.admission.push({
    name: 'CustomResourceTermination',
    mutate({ operation, served, name }) {
      if (operation !== 'CREATE' || !served.custom) return;
      if (!store.get(CRDS, served.custom.crd)?.metadata.deletionTimestamp) return;
      const because = 'create not allowed while custom resource definition is terminating';
      throw forbidden(served.groupResource, name, because);
    },
  });

  function changed(crd: StoredObject): void {
    const { metadata } = crd;
    if (metadata.deletionTimestamp) return cleanUp(crd);
    const before = crd as unknown as Crd;
    const status = judgeNames(core, before);
    if (!deepEqual(status, before.status)) {
      writeStatus(crd, status);
      return;
    }
    if (conditionOf(before, 'Established')?.status === 'True') install(crd);
  }

  function install(crd: StoredObject): void {
    const { spec } = crd as unknown as Crd;
    const served = new Set<string>();
    for (const version of spec.versions) {
      if (!version.served) continue;
      served.add(version.name);
      const { storage, deprecated, deprecationWarning } = version;
      const warning = deprecated
        ? (deprecationWarning ?? `${spec.group}/${version.name} ${spec.names.kind} is deprecated`)
        : undefined;
      registry.add(makeType(crd, version.name), { crd: crd.metadata.name, storage, ...(warning && { warning }) });
    }
    for (const { type, id } of registry.versionsOf(idOf(crd))) {
      if (!served.has(type.kind.version)) registry.remove(id, type.kind.version);
    }
  }

  function cleanUp(crd: StoredObject): void {
    if (!crd.metadata.finalizers?.includes(CRD_CLEANUP)) return;
    const id = idOf(crd);
    const terminating = conditionOf(crd as unknown as Crd, 'Terminating');
    if (terminating?.reason !== 'InstanceDeletionInProgress') {
      writeStatus(
        crd,
        withCondition(crd as unknown as Crd, {
          type: 'Terminating',
          status: 'True',
          reason: 'InstanceDeletionInProgress',
          message: 'CustomResource deletion is in progress',
        }),
      );
      return;
    }
    const [served] = registry.versionsOf(id);
    for (const { metadata } of served ? store.list(id) : []) {
      if (!served || metadata.deletionTimestamp) continue;
      const { namespace = '', name } = metadata;
      deleteObject(core, { ...own(served.id), served, namespace, name }, {});
    }
    if (store.list(id).length > 0 || !store.get(CRDS, crd.metadata.name)) return;
    patchObject(core, { ...own(CRDS), name: crd.metadata.name, manager: 'kube-apiserver' }, (live) => {
      live.metadata.finalizers = live.metadata.finalizers?.filter((finalizer) => finalizer !== CRD_CLEANUP) ?? [];
      return live;
    });
  }

  function own(id: string): WriteRequest {
    const [served] = registry.versionsOf(id);
    if (!served) throw new Error(`the sandbox serves no ${id}`);
    const manager = 'kube-apiserver';
    return {
      served,
      namespace: '',
      name: '',
      subresource: '',
      user: SERVER,
      manager,
      dryRun: false,
      warn: () => undefined,
    };
  }

  function writeStatus(crd: StoredObject, status: Crd['status']): void {
    patchObject(core, { ...own(CRDS), name: crd.metadata.name, subresource: 'status' }, (live) => ({
      ...live,
      status,
    }));
  }

  function withCondition(crd: Crd, condition: CrdCondition): NonNullable<Crd['status']> {
    const others = (crd.status?.conditions ?? []).filter(({ type }) => type !== condition.type);
    return { ...crd.status, conditions: [...others, { lastTransitionTime: timestamp(core.clock), ...condition }] };
  }
}

/** A definition's status as the naming, establishing and approval controllers of the real server leave it. */
function judgeNames(core: Core, crd: Crd): NonNullable<Crd['status']> {
  const { names, group, versions } = crd.spec;
  const taken = { resources: new Set<string>(), kinds: new Set<string>() };
  for (const other of core.store.list(CRDS) as unknown as Crd[]) {
    if (other.spec.group !== group || other.metadata.name === crd.metadata.name) continue;
    const {
      plural,
      singular,
      shortNames = [],
      kind,
      listKind,
    } = other.status?.acceptedNames ?? { plural: '', kind: '' };
    for (const name of [plural, singular, ...shortNames]) if (name) taken.resources.add(name);
    for (const name of [kind, listKind]) if (name) taken.kinds.add(name);
  }
  const conflicts: [reason: string, name: string | undefined, used: Set<string>][] = [
    ['PluralConflict', names.plural, taken.resources],
    ['SingularConflict', names.singular, taken.resources],
    ...(names.shortNames ?? []).map(
      (name) => ['ShortNamesConflict', name, taken.resources] as [string, string, Set<string>],
    ),
    ['KindConflict', names.kind, taken.kinds],
    ['ListKindConflict', names.listKind, taken.kinds],
  ];
  const conflict = conflicts.findLast(([, name, used]) => name !== undefined && used.has(name));
  const accepted: CrdCondition = conflict
    ? {
        type: 'NamesAccepted',
        status: 'False',
        reason: conflict[0],
        message: `${quote(conflict[1] ?? '')} is already in use`,
      }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  const established: CrdCondition = conflict
    ? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
    : {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      };
  const before = crd.status;
  const was = conditionOf(crd, 'Established');
  const conditions = [accepted, was?.status === 'True' ? was : established, ...approval(crd)].map((condition) => {
    const old = conditionOf(crd, condition.type);
    const same =
      old?.status === condition.status && old.reason === condition.reason && old.message === condition.message;
    return { lastTransitionTime: (same && old.lastTransitionTime) || timestamp(core.clock), ...condition };
  });
  const storage = versions.find((version) => version.storage)?.name ?? '';
  const stored = before?.storedVersions ?? [];
  return {
    acceptedNames: conflict ? (before?.acceptedNames ?? { plural: '', kind: '' }) : names,
    conditions,
    storedVersions: stored.includes(storage) ? stored : [...stored, storage],
  };
}

/** Groups of the Kubernetes community need an annotation (apihelpers.GetAPIApprovalState). */
function approval({ spec, metadata }: Crd): CrdCondition[] {
  if (!/(^|\.)(k8s\.io|kubernetes\.io)$/.test(spec.group)) return [];
  const type = 'KubernetesAPIApprovalPolicyConformant';
  const annotation = metadata.annotations?.['api-approved.kubernetes.io'] ?? '';
  if (annotation.startsWith('unapproved')) {
    return [{ type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${quote(annotation)}` }];
  }
  return [{ type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${annotation}` }];
}

function conditionOf(crd: Crd, type: string): CrdCondition | undefined {
  return crd.status?.conditions?.find((condition) => condition.type === type);
}

function idOf(crd: StoredObject): string {
  const { spec } = crd as unknown as Crd;
  return resourceIdOf({ group: spec.group, plural: spec.names.plural });
}
