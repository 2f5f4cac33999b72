import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a service sends notifications where one reads them, to a virtual host that both have rights to', async () => {
  const { unread, read, again } = await outcomeOf('notifications.ts');
  const noop = '[oslo_messaging_notifications]\ndriver = noop\n';
  const none = { neutron: noop, nova: noop };
  expect(unread).toMatchObject({ ...none, rights: { error: 'Object Not Found' } });
  expect(read).toEqual({
    neutron: '[oslo_messaging_notifications]\ndriver = messagingv2\ntopics = notifications_bell\n',
    nova: noop,
    bell: noop,
    url: 'rabbit://neutron:PASSWORD@my-cloud-rabbitmq.openstack.svc:5672/notifications',
    rights: ['neutron', 'bell'].map((user) => ({
      user,
      vhost: 'notifications',
      configure: '.*',
      write: '.*',
      read: '.*',
    })),
  });
  expect(again).toEqual(none);
});
