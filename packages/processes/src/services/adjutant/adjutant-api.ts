import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { bodyOf, headerOf, json, locationOf, selfUrl } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { IdentityManager, type KeystoneUser } from './adjutant-identity.ts';
import { loadSettings } from './adjutant-settings.ts';
import {
  approveTask,
  cancelTask,
  createTask,
  inStore,
  Refusal,
  readTask,
  shown,
  submitTask,
  type Work,
} from './adjutant-tasks.ts';

/** A request, who asks, and what its path says. */
interface Call {
  readonly request: HttpMessage;
  readonly user: KeystoneUser | undefined;
  readonly id: string;
  readonly body: Row;
}

type Answer = (work: Work, call: Call) => Promise<HttpReply>;

const moderators = ['project_admin', 'project_mod', 'admin'];

/** Lets those through who have one of the roles. */
const only =
  (
    roles: readonly string[],
    answer: (work: Work, call: Call & { readonly user: KeystoneUser }) => Promise<HttpReply>,
  ): Answer =>
  async (work, call) => {
    const { user } = call;
    if (user === undefined) throw new Refusal(401, ['Credentials incorrect or none given.']);
    if (!user.roles.some((role) => roles.includes(role)))
      throw new Refusal(403, [`Must have one of the following roles: ['${roles.join("', '")}']`]);
    return answer(work, { ...call, user });
  };

const noted = (status: number, note: string): HttpReply => json(status, { notes: [note] });

/** The rows of a table, the newest first, for administrators. */
const listOf = (table: string, key: string): Answer =>
  only(['admin'], async (work) =>
    json(200, { [key]: await inStore(work, 'SELECT', (schema) => rowsOf(schema, table).reverse()) }),
  );

/** A task that whoever asks may see. @throws Refusal 404 */
async function taskOf(work: Work, { id, user }: Call) {
  const found = await inStore(work, 'SELECT', (schema) => readTask(schema, id));
  const isSeen = user?.roles.includes('admin') === true || found?.task.project_id === user?.project_id;
  if (found === undefined || !isSeen) throw new Refusal(404, ['No task with this id.']);
  return found;
}

/** The task of a token that lives. @throws Refusal 404 */
async function taskOfToken(work: Work, { id }: Call) {
  const found = await inStore(work, 'SELECT', (schema) => {
    const token = tableOf(schema, 'api_token').get(id);
    const lives = Number(token?.['expires']) >= work.context.process.clock.now();
    return token && lives ? readTask(schema, String(token['task'])) : undefined;
  });
  if (found === undefined) throw new Refusal(404, ['This token does not exist or has expired.']);
  return found;
}

const signUp: Answer = async (work, { body, user }) => {
  await createTask(work, 'create_project_and_user', body, user);
  return noted(202, 'task created');
};

/** Paths below `/v1/` by method, as Django's patterns have them; of `delegate` those that are active alone. */
const routes: readonly { path: RegExp; delegate?: string; answers: Readonly<Record<string, Answer>> }[] = [
  {
    path: /^tasks\/(\w+)$/u,
    answers: {
      GET: only(moderators, async (work, call) => json(200, shown(await taskOf(work, call)))),
      POST: only(['admin'], async (work, call) => {
        if (call.body['approved'] !== true) throw new Refusal(400, { approved: ['this is a required boolean field.'] });
        const running = await taskOf(work, call);
        await approveTask(work, running, call.user);
        return running.task.completed ? noted(200, 'Task completed successfully.') : noted(202, 'created token');
      }),
      DELETE: only(moderators, async (work, call) => {
        await cancelTask(work, await taskOf(work, call));
        return noted(200, 'Task cancelled successfully.');
      }),
    },
  },
  {
    path: /^tasks$/u,
    answers: {
      GET: only(['admin'], async (work) => {
        const tasks = await inStore(work, 'SELECT', (schema) =>
          rowsOf(schema, 'tasks_task').flatMap(({ uuid }) => readTask(schema, String(uuid)) ?? []),
        );
        return json(200, { tasks: tasks.reverse().map(shown) });
      }),
    },
  },
  {
    path: /^tokens\/(\w+)$/u,
    answers: {
      GET: async (work, call) => {
        const { task, action } = await taskOfToken(work, call);
        const rest = { task_type: task.task_type, requires_authentication: false };
        return json(200, { actions: [action.name], required_fields: action.tokenFields, ...rest });
      },
      POST: async (work, call) => {
        await submitTask(work, await taskOfToken(work, call), call.body);
        return noted(200, 'Token submitted successfully.');
      },
    },
  },
  { path: /^tokens$/u, answers: { GET: listOf('api_token', 'tokens') } },
  { path: /^notifications$/u, answers: { GET: listOf('api_notification', 'notifications') } },
  {
    path: /^openstack\/users$/u,
    delegate: 'UserList',
    answers: {
      GET: only(moderators, users),
      POST: only(moderators, async (work, { body, user }) => {
        const { project_id, project_domain_id: domain_id } = user;
        await createTask(work, 'invite_user_to_project', { project_id, domain_id, ...body }, user);
        return noted(202, 'task created');
      }),
    },
  },
  {
    path: /^openstack\/users\/(\w+)$/u,
    delegate: 'UserDetail',
    answers: {
      GET: only(moderators, async (work, call) => {
        const { user, roles } = await memberOf(work, call, 'UserDetail');
        return json(200, { id: user.id, username: user.name, roles, inherited_roles: [] });
      }),
    },
  },
  {
    path: /^openstack\/users\/(\w+)\/roles$/u,
    delegate: 'UserRoles',
    answers: {
      GET: only(moderators, async (work, call) => {
        const { roles } = await memberOf(work, call, 'UserRoles');
        return json(200, { roles, inherited_roles: [] });
      }),
      PUT: only(moderators, async (work, { body, user }) => {
        await createTask(work, 'edit_user_roles', body, user);
        return noted(202, 'task created');
      }),
    },
  },
  {
    path: /^openstack\/roles$/u,
    delegate: 'RoleList',
    answers: {
      GET: only(moderators, async ({ identity, settings }, { user }) => {
        const names = new Set(user.roles.flatMap((role) => settings.roleMapping[role] ?? []));
        return json(200, { roles: (await identity.findRoles()).filter(({ name }) => names.has(name)) });
      }),
    },
  },
  {
    path: /^openstack\/users\/password-reset$/u,
    delegate: 'UserResetPassword',
    answers: {
      // Nobody learns whether there is such a user, neither from the answer nor from how long it takes.
      POST: async (work, { body, user }) => {
        try {
          await createTask(work, 'reset_user_password', body, user);
        } catch (error) {
          if (!(error instanceof Refusal) || !Array.isArray(error.errors)) throw error;
        }
        await pause(work.context.process, 3000);
        return noted(202, 'If user with email exists, reset token will be issued.');
      },
    },
  },
  { path: /^openstack\/sign-up$/u, delegate: 'SignUp', answers: { POST: signUp } },
  { path: /^actions\/CreateProjectAndUser$/u, delegate: 'CreateProjectAndUser', answers: { POST: signUp } },
];

/** A user of the asker's project whose roles do not hide him from an API. @throws Refusal 404 */
async function memberOf({ identity, settings }: Work, { id, user: asker }: Call, api: string) {
  const hidden = settings.roles(`api.delegate_apis.${api}.blacklisted_roles`);
  const user = await identity.get('user', id);
  const roles = (await identity.rolesOn(asker?.project_id ?? '', id)).get(id) ?? [];
  if (user === undefined || roles.length === 0 || roles.some((role) => hidden.includes(role)))
    throw new Refusal(404, ['No user with this id.']);
  return { user, roles };
}

/** Users of the asker's project, but for those whose roles hide them. */
async function users({ identity, settings }: Work, { user }: { readonly user: KeystoneUser }): Promise<HttpReply> {
  const hidden = settings.roles('api.delegate_apis.UserList.blacklisted_roles');
  const held = [...(await identity.rolesOn(user.project_id))];
  const seen = held.filter(([, roles]) => !roles.some((role) => hidden.includes(role)));
  const found = await Promise.all(
    seen.map(async ([id, roles]) => ({
      ...(await identity.get('user', id)),
      roles,
      cohort: 'Member',
      status: 'Active',
    })),
  );
  return json(200, { users: found });
}

/** Behind keystonemiddleware, which lets everybody through; Django and its middleware say who may do what. */
export function serveApi(context: ServiceContext): WsgiHandler {
  const settings = loadSettings(context.process);
  const work = { context, settings, identity: new IdentityManager(context, settings) };
  return async (request) => {
    const { path } = locationOf(request);
    const host = (headerOf(request, 'host') ?? '').replace(/:\d+$/u, '');
    if (!settings.allowedHosts.some((name) => name === '*' || name === host)) return page(400, 'Bad Request (400)');
    const version = { status: 'CURRENT', id: '1.0', links: [{ href: `${selfUrl(request)}/v1/`, rel: 'self' }] };
    if (path === '/' || path === '') return json(200, { versions: [version] });
    if (path === '/v1') return json(200, { version });
    const user = await work.identity.whoAsks(request);
    const route = routes.find(
      ({ path: pattern, delegate }) =>
        pattern.test(path.slice('/v1/'.length)) && (delegate === undefined || settings.apis.includes(delegate)),
    );
    if (route === undefined || !path.startsWith('/v1/')) return page(404, 'Not Found');
    try {
      const { answers, path: pattern } = route;
      const answer = answers[request.method];
      if (answer === undefined)
        throw new PythonError('rest_framework.exceptions.MethodNotAllowed', `Method "${request.method}" not allowed.`);
      const [, id = ''] = pattern.exec(path.slice('/v1/'.length)) ?? [];
      return await answer(work, { request, user, id, body: bodyOf(request) ?? {} });
    } catch (error) {
      if (error instanceof Refusal) return json(error.status, { errors: error.errors });
      if (!(error instanceof PythonError)) throw error;
      context.log.exception('django.request', `Internal Server Error: ${path}`, error);
      return page(500, 'Server Error (500)');
    }
  };
}

function page(status: number, title: string): HttpReply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: `<h1>${title}</h1>` };
}
