import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { newId } from '../keystone/keystone-schema.ts';
import type { Settings } from './adjutant-settings.ts';
import type { Running, Work } from './adjutant-tasks.ts';

/** What was asked for, of which each action has its part. */
export interface Asked {
  readonly email: string;
  readonly domain_id?: string;
  readonly project_id?: string;
  readonly project_name?: string;
  readonly roles?: readonly string[];
}

/** What a task does, as far as it has come. */
export interface Action {
  readonly name: string;
  readonly data: Asked;
  state: 'default' | 'existing' | 'complete';
  valid: boolean;
  /** What whoever has the token is asked for; nothing: no token is needed. */
  tokenFields: readonly string[];
  readonly cache: { project?: string; user?: string };
}

/** A type of tasks by its default action (adjutant.tasks.v1, adjutant.actions.v1). */
interface Kind {
  readonly action: string;
  readonly fields: readonly (keyof Asked)[];
  /** A second one of the same is refused; else it replaces the first. */
  readonly isBlocked: boolean;
  /** It waits for no administrator. */
  readonly isApproved: boolean;
  /** What is wrong with a request, by field. */
  mistakes(settings: Settings, body: Partial<Asked>): Row;
  /** Whether it may go on; says in the action what for. */
  validate(work: Work, running: Running): Promise<boolean>;
  /** Instead of validating once more. */
  approve?(work: Work, running: Running): Promise<boolean>;
  submit(work: Work, running: Running, data: Row): Promise<void>;
}

const required = 'This field is required.';

function mailMistakes({ email }: Partial<Asked>): Row {
  if (email === undefined) return { email: [required] };
  return /^\S+@\S+\.\S+$/u.test(email) ? {} : { email: ['Enter a valid email address.'] };
}

/** Whether there is such a user already: others have to choose a password. @throws PythonError */
async function findUser({ identity }: Work, { action }: Running, domain: string): Promise<string | undefined> {
  const user = await identity.find('user', action.data.email, domain);
  if (user?.enabled === false)
    throw new PythonError('NotImplementedError', 'no model knows Adjutant with disabled users');
  action.state = user === undefined ? 'default' : 'existing';
  action.tokenFields = user === undefined ? ['password'] : [];
  return user?.id;
}

const domainOf = ({ action }: Running): string => action.data.domain_id ?? 'default';

/** The types of tasks that are modelled. */
export const kinds: Readonly<Record<string, Kind>> = {
  invite_user_to_project: {
    action: 'NewUserAction',
    fields: ['email', 'project_id', 'domain_id', 'roles'],
    isBlocked: true,
    isApproved: true,
    mistakes: (settings, body) => {
      const { roles } = body;
      if (roles === undefined || roles.length === 0)
        return {
          ...mailMistakes(body),
          non_field_errors: ["Must supply either 'roles' or 'inherited_roles', or both."],
        };
      const choices = Object.values(settings.roleMapping).flat();
      const strange = roles.find((role) => !choices.includes(role));
      return { ...mailMistakes(body), ...(strange && { roles: [`"${strange}" is not a valid choice.`] }) };
    },
    validate: async (work, running) => {
      const { identity, settings } = work;
      const { data } = running.action;
      const { keystone_user: asker } = running.task;
      const { roles = [], project_id: project = '' } = data;
      const manageable = (asker.roles ?? []).flatMap((role) => settings.roleMapping[role] ?? []);
      if (!roles.every((role) => role !== 'admin' && manageable.includes(role))) return false;
      if (asker.project_id !== project || asker.project_domain_id !== domainOf(running)) return false;
      if (!(await identity.get('domain', domainOf(running))) || !(await identity.get('project', project))) return false;
      const user = await findUser(work, running, domainOf(running));
      if (user !== undefined) {
        const held = (await identity.rolesOn(project, user)).get(user) ?? [];
        const lacks = roles.some((role) => !held.includes(role));
        Object.assign(running.action, lacks ? { tokenFields: ['confirm'] } : { state: 'complete', tokenFields: [] });
      }
      return true;
    },
    submit: async ({ identity }, running, { password }) => {
      const { action } = running;
      const [name, domain] = [action.data.email, domainOf(running)];
      const found = await identity.find('user', name, domain);
      const user = found ?? (await identity.create('user', { name, email: name, password, domain_id: domain }));
      await identity.grant(user.id, action.data.roles ?? [], action.data.project_id ?? '');
    },
  },
  create_project_and_user: {
    action: 'NewProjectWithUserAction',
    fields: ['email', 'project_name', 'domain_id'],
    isBlocked: true,
    isApproved: false,
    mistakes: (_settings, body) => ({
      ...mailMistakes(body),
      ...(body.project_name === undefined && { project_name: [required] }),
    }),
    validate: async (work, running) => {
      const domain = domainOf(running);
      if (!(await work.identity.get('domain', domain))) return false;
      if (await work.identity.find('project', running.action.data.project_name ?? '', domain)) return false;
      await findUser(work, running, domain);
      return true;
    },
    approve: async (work, running) => {
      const { identity, settings, context } = work;
      const { action } = running;
      const [name, domain] = [action.data.email, domainOf(running)];
      if (!(await kinds['create_project_and_user']?.validate(work, running))) return false;
      const project = await identity.create('project', { name: action.data.project_name, domain_id: domain });
      const password = newId(context.process.random);
      const found = await identity.find('user', name, domain);
      const user = found ?? (await identity.create('user', { name, email: name, password, domain_id: domain }));
      Object.assign(action.cache, { project: project.id, user: user.id });
      const roles = settings.roles('workflow.action_defaults.NewProjectWithUserAction.default_roles');
      await identity.grant(user.id, roles, project.id);
      return true;
    },
    submit: async ({ identity }, { action }, { password }) => {
      if (action.state !== 'existing') await identity.setPassword(action.cache.user ?? '', password);
    },
  },
  reset_user_password: {
    action: 'ResetUserPasswordAction',
    fields: ['email'],
    isBlocked: false,
    isApproved: true,
    mistakes: (_settings, body) => mailMistakes(body),
    validate: async ({ identity, settings }, running) => {
      const user = await identity.find('user', running.action.data.email, domainOf(running));
      if (user === undefined) return false;
      const refused = settings.roles('workflow.action_defaults.ResetUserPasswordAction.blacklisted_roles');
      const held = await identity.rolesOf(user.id);
      running.action.cache.user = user.id;
      running.action.tokenFields = ['password'];
      return !held.some((role) => refused.includes(role));
    },
    submit: ({ identity }, { action }, { password }) => identity.setPassword(action.cache.user ?? '', password),
  },
};
