import { Messaging } from './messaging.ts';
import { PythonError } from './python-error.ts';
import type { ServiceContext } from './service-context.ts';

/** What a service reads of a notification: the payload; the event is the name of the method. */
export interface Notification {
  readonly payload: unknown;
  /** Of the service that sent it. */
  readonly publisher: string;
}

/**
 * The broker that notifications go through: that of `[oslo_messaging_notifications]`, or the one of RPC.
 * @throws PythonError as `Messaging`
 */
export function notificationTransport(context: ServiceContext): Messaging {
  return new Messaging(context, context.config.optional('oslo_messaging_notifications', 'transport_url'));
}

/**
 * Sends a notification to every topic of the options, to whoever reads it. It comes back when the broker has it: one that is
 * away is waited for, for ever or for as many attempts as `retry` says; what is given up is told in the log alone.
 * @throws PythonError for an URL that oslo.messaging refuses
 */
export async function notify(context: ServiceContext, event: string, payload: unknown): Promise<void> {
  const { config, log } = context;
  const group = 'oslo_messaging_notifications';
  const [driver = 'noop'] = config.all(group, 'driver');
  if (driver === 'noop') return;
  const notification: Notification = { payload, publisher: config.project };
  const transport = notificationTransport(context);
  for (const topic of config.list(group, 'topics')) {
    try {
      await transport.reached(config.integer(group, 'retry'));
      transport.cast(`${topic}.info`, event, notification);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception('oslo_messaging.notify.messaging', `Could not send notification to ${topic}.`, error);
    }
  }
}
