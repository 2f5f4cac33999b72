import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { now } from '../../model/service-rows.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { newId } from '../keystone/keystone-schema.ts';
import { type Action, type Asked, kinds } from './adjutant-actions.ts';
import { transaction } from './adjutant-database.ts';
import type { IdentityManager, KeystoneUser } from './adjutant-identity.ts';
import type { Settings } from './adjutant-settings.ts';

/** What tasks work with. */
export interface Work {
  readonly context: ServiceContext;
  readonly settings: Settings;
  readonly identity: IdentityManager;
}

/** What the API refuses, with what its answer says (adjutant.exceptions). */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly errors: unknown;

  constructor(status: number, errors: unknown) {
    super(JSON.stringify(errors));
    this.status = status;
    this.errors = errors;
  }
}

/** A task as the API shows it, but for its actions. */
export interface Task {
  readonly uuid: string;
  readonly task_type: string;
  readonly keystone_user: Partial<KeystoneUser>;
  readonly project_id: string | null;
  readonly created_on: string;
  readonly hash_key: string;
  cancelled: boolean;
  approved: boolean;
  completed: boolean;
  approved_by: unknown;
  approved_on: string | null;
  completed_on: string | null;
}

/** A task and its action: those that are modelled have one. */
export interface Running {
  readonly task: Task;
  readonly action: Action;
}

/** Runs something in its database. */
export function inStore<T>(
  { context, settings }: Work,
  privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE',
  run: (schema: Schema) => T,
): Promise<T> {
  return transaction(context.process, settings.database, privilege, run);
}

/** Makes a task of what was asked, and takes it as far as it goes by itself. @throws Refusal, PythonError */
export async function createTask(work: Work, type: string, body: Partial<Asked>, user?: KeystoneUser): Promise<void> {
  const { settings, context } = work;
  const kind = kinds[type];
  if (kind === undefined) throw new PythonError('NotImplementedError', `no model knows tasks of type ${type}`);
  if ('inherited_roles' in body)
    throw new PythonError('NotImplementedError', 'no model knows roles that projects inherit');
  const errors = kind.mistakes(settings, body);
  if (Object.keys(errors).length > 0) throw new Refusal(400, errors);
  const data = Object.fromEntries(
    kind.fields.flatMap((name) => (name in body ? [[name, body[name]]] : [])),
  ) as unknown as Asked;
  const task: Task = {
    uuid: newId(context.process.random),
    task_type: type,
    keystone_user: user ?? {},
    project_id: user?.project_id ?? null,
    created_on: now(context),
    hash_key: JSON.stringify([type, data]),
    cancelled: false,
    approved: false,
    completed: false,
    approved_by: {},
    approved_on: null,
    completed_on: null,
  };
  const action: Action = { name: kind.action, data, state: 'default', valid: false, tokenFields: [], cache: {} };
  await inStore(work, 'INSERT', (schema) => {
    for (const row of rowsOf(schema, 'tasks_task', { hash_key: task.hash_key, completed: false, cancelled: false })) {
      if (kind.isBlocked) throw new Refusal(409, ['This Task already exists.']);
      row['cancelled'] = true;
    }
    write(schema, { task, action });
  });
  await step(work, { task, action }, () => kind.validate(work, { task, action }));
  if (kind.isApproved) await approveTask(work, { task, action }, 'system');
  else await note(work, task, { notes: [`'${type}' task needs approval.`] });
}

/** The approve stage: a task that waits for nobody is submitted as well. @throws Refusal, PythonError */
export async function approveTask(work: Work, running: Running, by: unknown): Promise<void> {
  const { task, action } = running;
  demandOpen(task);
  demandValid(action);
  Object.assign(task, { approved: true, approved_by: by, approved_on: now(work.context) });
  const kind = kinds[task.task_type];
  await step(work, running, async () => (await kind?.approve?.(work, running)) ?? kind?.validate(work, running));
  demandValid(action);
  if (action.tokenFields.length === 0) {
    await submitTask(work, running, {});
    return;
  }
  const token = newId(work.context.process.random);
  await inStore(work, 'INSERT', (schema) => {
    dropTokens(schema, task);
    const expires = work.context.process.clock.now() + work.settings.tokenLife;
    tableOf(schema, 'api_token').set(token, { token, task: task.uuid, task_type: task.task_type, expires });
  });
  await mail(work, running, `${work.settings.horizonUrl.replace(/\/?$/u, '/')}token/${token}`);
}

/** The submit stage, with what whoever has the token says. @throws Refusal, PythonError */
export async function submitTask(work: Work, running: Running, data: Row): Promise<void> {
  const { task, action } = running;
  demandOpen(task);
  if (!task.approved) throw new Refusal(400, ['This task has not been approved.']);
  const missing = action.tokenFields.filter((name) => data[name] === undefined);
  if (missing.length > 0)
    throw new Refusal(400, Object.fromEntries(missing.map((name) => [name, ['This field is required.']])));
  await step(work, running, async () => {
    await kinds[task.task_type]?.submit(work, running, data);
    return action.valid;
  });
  demandValid(action);
  Object.assign(task, { completed: true, completed_on: now(work.context) });
  await inStore(work, 'UPDATE', (schema) => {
    write(schema, running);
    dropTokens(schema, task);
  });
  await mail(work, running);
}

/** @throws Refusal */
export async function cancelTask(work: Work, running: Running): Promise<void> {
  demandOpen(running.task);
  running.task.cancelled = true;
  await inStore(work, 'UPDATE', (schema) => {
    dropTokens(schema, running.task);
    write(schema, running);
  });
}

/** A task by its id; undefined where there is none. */
export function readTask(schema: Schema, uuid: string): Running | undefined {
  const task = tableOf(schema, 'tasks_task').get(uuid);
  const action = tableOf(schema, 'actions_action').get(uuid);
  return task && action && { task: { ...task } as unknown as Task, action: { ...action } as unknown as Action };
}

/** A task as the API shows it. */
export function shown({ task, action }: Running): Row {
  const { hash_key: _hash, ...rest } = task;
  return { ...rest, actions: [{ action_name: action.name, data: action.data, valid: action.valid }] };
}

function write(schema: Schema, { task, action }: Running): void {
  tableOf(schema, 'tasks_task').set(task.uuid, { ...task });
  tableOf(schema, 'actions_action').set(task.uuid, { ...action });
}

function dropTokens(schema: Schema, { uuid }: Task): void {
  for (const row of rowsOf(schema, 'api_token', { task: uuid }))
    tableOf(schema, 'api_token').delete(String(row['token']));
}

/** Runs a stage of the action: what it raises is told to administrators, and to nobody else. @throws Refusal 503 */
async function step(work: Work, running: Running, run: () => Promise<boolean | undefined>): Promise<void> {
  const { task, action } = running;
  try {
    action.valid = (await run()) ?? false;
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    work.context.log.exception('adjutant', 'Exception escaped!', error);
    const kind = error.type.split('.').at(-1);
    const words = `Error: ${kind}(${error.message}) while running task. See task itself for details.`;
    await note(work, task, { errors: [words] }, true);
    throw new Refusal(503, ['Service temporarily unavailable, try again later.']);
  }
  await inStore(work, 'UPDATE', (schema) => write(schema, running));
}

function demandOpen({ completed, cancelled }: Task): void {
  if (completed) throw new Refusal(400, ['This task has already been completed.']);
  if (cancelled) throw new Refusal(400, ['This task has been cancelled.']);
}

function demandValid({ valid }: Action): void {
  if (!valid) throw new Refusal(400, ['actions invalid']);
}

async function note(work: Work, task: Task, notes: object, error = false): Promise<void> {
  const uuid = newId(work.context.process.random);
  const row = { uuid, notes, task: task.uuid, error, acknowledged: false, created_on: now(work.context) };
  await inStore(work, 'INSERT', (schema) => tableOf(schema, 'api_notification').set(uuid, row));
}

/** Django's backends of mails; what fails in one is told to administrators. */
async function mail(work: Work, { task, action }: Running, url = ''): Promise<void> {
  const backend = work.settings.emailBackend;
  if (backend === 'django.core.mail.backends.dummy.EmailBackend') return;
  if (backend === 'django.core.mail.backends.console.EmailBackend')
    work.context.process.stdout(`To: ${action.data.email}\nX-Adjutant-Task-UUID: ${task.uuid}\n\n${url}\n`);
  else {
    const errors = `Error: 'no model knows ${backend}' while emailing update for task: ${task.uuid}`;
    await note(work, task, { errors }, true);
  }
}
