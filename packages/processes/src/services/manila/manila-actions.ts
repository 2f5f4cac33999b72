import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { commonWords, Fault } from '../../model/fault.ts';
import { demanded } from '../../model/owned.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { allow, deny, shownRule } from './manila-rules.ts';
import { demandQuota, demandShareSize, queueOf, rulesOf, saveShare } from './manila-store.ts';
import { demandSize } from './manila-types.ts';
import { demandVersion } from './manila-versions.ts';

/** What an action has to do with. */
interface Use {
  readonly context: ServiceContext;
  readonly call: Call;
  readonly schema: Schema;
  readonly share: Row;
  readonly id: string;
  readonly asked: Row;
}

/** What is told to whom, and what is answered. */
interface Done {
  readonly method?: string;
  /** Whom; the share's process when absent. */
  readonly queue?: string;
  readonly parameters?: Row;
  readonly body?: Row;
}

interface Action {
  /** Microversions 2.x that know it. */
  readonly versions: readonly [least: number, most?: number];
  /** Writes down what is asked for. @throws Fault */
  readonly act: (use: Use) => Done;
}

/** The size that is asked for. @throws Fault 400 */
function sizeOf({ asked }: Use): number {
  const size = Number(asked['new_size'] ?? Number.NaN);
  if (!Number.isInteger(size)) throw new Fault(400, 'New share size must be specified as an integer.');
  return size;
}

const typeOf = ({ schema, share }: Use) => tableOf(schema, 'share_types').get(String(share['share_type_id'])) ?? {};

/** Actions of shares, by their names (manila.api.v2.shares). */
const actions: Readonly<Record<string, Action>> = {
  allow_access: {
    versions: [7],
    act({ context, call, schema, share, asked }) {
      const rule = allow(context, call, schema, share, asked);
      return { method: 'update_access', body: { access: shownRule(rule) } };
    },
  },
  deny_access: {
    versions: [7],
    act({ call, schema, share, asked }) {
      deny(call, schema, share, asked);
      return { method: 'update_access' };
    },
  },
  access_list: {
    versions: [7, 44],
    act: ({ schema, id }) => ({ body: { access_list: rulesOf(schema, id).map(shownRule) } }),
  },
  extend: {
    versions: [7],
    act(use) {
      const { context, call, schema, share, id } = use;
      const [size, before] = [sizeOf(use), Number(share['size'])];
      const { status, project_id: project } = share;
      if (status !== 'available')
        throw new Fault(
          400,
          `Invalid share: Share ${id} status must be 'available' to extend, but current status is: ${String(status)}..`,
        );
      if (size <= before)
        throw new Fault(
          400,
          `Invalid input received: New size for extend must be greater than current size. (current: ${before}, extended: ${size})..`,
        );
      demandShareSize(context, schema, project, size);
      demandSize(typeOf(use), size, call.identity.roles.includes('admin') ? 'extendAsAdmin' : 'extend');
      demandQuota(context, schema, project, { gigabytes: size - before }, 403);
      saveShare(schema, id, { status: 'extending' });
      // Its backend has to have the room: a scheduler looks (2.64 knows `force`, which does without).
      return { method: 'extend_share', queue: 'manila-scheduler', parameters: { size } };
    },
  },
  shrink: {
    versions: [7],
    act(use) {
      const { schema, share, id } = use;
      const [size, before] = [sizeOf(use), Number(share['size'])];
      const status = String(share['status']);
      const states = ['available', 'shrinking_possible_data_loss_error'];
      if (!states.includes(status))
        throw new Fault(
          400,
          `Invalid share: Share ${id} status must in (${states.join(', ')}) to shrink, but current status is: ${status}..`,
        );
      if (size >= before || size <= 0)
        throw new Fault(
          400,
          `Invalid input received: New size for shrink must be less than current size and greater than 0 (current: ${before}, new: ${size}).`,
        );
      demandSize(typeOf(use), size, 'shrink');
      saveShare(schema, id, { status: 'shrinking' });
      return { method: 'shrink_share', parameters: { size } };
    },
  },
  reset_status: {
    versions: [7],
    act({ schema, id, asked, call }) {
      if (!call.identity.roles.includes('admin')) throw new Fault(403, commonWords.forbidden('share:reset_status'));
      saveShare(schema, id, { status: asked['status'] });
      return {};
    },
  },
};

/** `POST /shares/ID/action`. @throws Fault */
export async function actOnShare(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { id = '', body, store } = call;
  const [[name, asked] = []] = Object.entries(body) as [string, Row | null][];
  const action = actions[name ?? ''];
  if (action === undefined) throw new Fault(400, `There is no such action: ${String(name)}`);
  demandVersion(call, ...action.versions);
  const { done, queue } = await store((schema) => {
    const share = demanded(schema, call, 'shares', id, `Share ${id} could not be found.`);
    return { done: action.act({ context, call, schema, share, id, asked: asked ?? {} }), queue: queueOf(share) };
  });
  if (done.method !== undefined) messaging.cast(done.queue ?? queue, done.method, { share: id, ...done.parameters });
  return done.body === undefined ? { status: 202 } : json(200, done.body);
}
