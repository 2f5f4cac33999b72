import type { KubeObject } from '@openstack-operator/kube';
import { type Context, contextOf, databaseName, externalOf } from './context.ts';
import { imageOf } from './images.ts';
import { labelsOf } from './names.ts';
import { podSpec } from './pod.ts';
import type { Init, Mount, Runs, Service } from './service.ts';
import type { ReferenceField, ServiceResource, Surroundings } from './surroundings.ts';

/** How what a deleted resource has elsewhere is taken back. */
export interface Deregistration {
  /** Absent where nothing is to be done. */
  readonly job?: KubeObject;
  /** What the Job takes back, in words. */
  readonly things: readonly string[];
  /** What nobody can take back any more: the list of it is gone. */
  readonly lost: readonly string[];
}

/** What follows the resource's name in the name of the Job. */
const suffix = 'deregister';

/** Seconds that it may take; then the resource goes without. */
export const deregistrationSeconds = 600;

const folder = '/etc/openstack/deregister';

/** Whether something of the resource lives in a database server, a broker or a Keystone that this operator does not run. */
export function hasExternalRecords(service: Pick<Service, 'references'>, { spec = {} }: ServiceResource): boolean {
  return recordFields.some((field) => service.references.includes(field) && externalOf(spec, field) !== undefined);
}

const recordFields = ['databaseRef', 'messageQueueRef', 'keystoneRef'] as const satisfies readonly ReferenceField[];

/**
 * The Job `<name>-deregister`: takes back what the lists of the records Jobs have made in what is external. The user in
 * Keystone is disabled, never deleted, because trusts and access rules hang on it (production rule 17), and the
 * endpoints go. Databases, virtual hosts and their users go with `deletionPolicy: Delete` only: Retain keeps data.
 * What was never made has no list (a Secret), and is no concern of it. What runs in the same namespace goes anyway, and is left alone.
 */
export function deregistration<R extends ServiceResource>(
  service: Service<R>,
  resource: R,
  surroundings: Surroundings,
  hasSecret: (name: string) => boolean,
): Deregistration {
  const context = contextOf(service, resource, surroundings) as unknown as Context;
  const { accounts, spec, region } = context;
  const isExternal = (field: ReferenceField) =>
    service.references.includes(field) && externalOf(spec, field) !== undefined;
  const remove = spec.deletionPolicy === 'Delete';
  const mounts: Mount[] = [];
  const things: string[] = [];
  const lists: string[] = [];
  const lost: string[] = [];
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Readonly<Record<string, string>> };
  /** Mounts the list of a records Job; undefined where there is none. */
  const mount = (target: string, job: string, thing: string): string | undefined => {
    const list = context.named(job);
    if (!hasSecret(list)) {
      if (list in jobs) lost.push(thing);
      return undefined;
    }
    things.push(thing);
    mounts.push({ path: `${folder}/${target}`, secret: list, follows: true });
    return `${folder}/${target}`;
  };
  const addList = (target: string, job: string, thing: string) => {
    const path = mount(target, job, thing);
    if (path !== undefined) lists.push(`${target}=${path}/records.json`);
  };
  if (service.identity !== undefined && isExternal('keystoneRef')) {
    const { user, serviceName } = accounts.identity;
    addList(
      'keystone',
      'endpoint-create',
      `user ${user} and endpoints of ${serviceName} in region ${region} of Keystone`,
    );
  }
  if (remove && service.messaging === true && isExternal('messageQueueRef'))
    addList('rabbitmq', 'mq-create', `user ${accounts.broker.user} and its virtual hosts on the broker`);
  const images = { component: suffix, main: false, spec, release: context.release };
  const runs: (Init & { image: string; user: NonNullable<Init['user']> })[] = [];
  if (lists.length > 0) {
    const command = ['openstack-operator', 'records', 'remove', ...lists];
    runs.push({ name: 'records', image: surroundings.operatorImage, user: 'operator', runs: { command } });
  }
  if (remove && service.databases !== undefined && isExternal('databaseRef')) {
    const databases = new Set([
      ...service.databases.map(({ name }) => databaseName(accounts, name)),
      ...(service.moreDatabases?.(context as unknown as Context<R>) ?? []),
    ]);
    const thing = `databases ${[...databases].join(', ')} and user ${accounts.database.user} of the database server`;
    const path = mount('mariadb', 'db-create', thing);
    const image = imageOf('mariadb-server', images);
    if (path !== undefined)
      runs.push({ name: 'mariadb', image, user: 'mysql', runs: dropping(path, databases, accounts) });
  }
  const last = runs.pop();
  if (last === undefined) return { things, lost };
  const labels = labelsOf(service.name, context.name, suffix);
  const pod = podSpec({
    name: last.name,
    image: last.image,
    user: last.user,
    runs: last.runs,
    init: runs,
    configs: [],
    mounts,
    spec: { ...spec, resources: undefined },
    restartPolicy: 'Never',
  });
  return {
    things,
    lost,
    job: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: context.named(suffix), namespace: context.namespace, labels },
      spec: {
        backoffLimit: 6,
        activeDeadlineSeconds: deregistrationSeconds,
        podReplacementPolicy: 'Failed',
        template: { metadata: { labels }, spec: pod },
      },
    },
  };
}

function dropping(path: string, databases: ReadonlySet<string>, { database: { user } }: Context['accounts']): Runs {
  const sql = [
    ...[...databases].map((database) => `DROP DATABASE IF EXISTS \`${database}\`;`),
    `DROP USER IF EXISTS '${user}'@'%';`,
  ];
  return { command: ['mariadb', `--defaults-extra-file=${path}/client.cnf`, '-e', sql.join(' ')] };
}
