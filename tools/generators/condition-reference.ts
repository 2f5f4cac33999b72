import { deadlines, effects, eventReasons, phases, type Reason, reasons } from '@openstack-operator/openstack';
import type { GeneratedFile } from './generated-file.ts';
import { page, table } from './markdown.ts';

/** The reference of conditions, by their reasons, and of events. */
export function conditionReference(): readonly GeneratedFile[] {
  const annotations = '[annotation](annotations.md)';
  return [
    page('conditions.md', 'Reasons of conditions', [
      `What each reason in \`status.conditions\` means, and what to do about it. The message of the condition names the objects. An ${annotations} named here begins with \`openstack.k8s.io/\`.`,
      'The effect of a reason decides the phase of the resource and the event:',
      table(
        ['Effect', 'Meaning', 'Phase', 'Event'],
        Object.entries(effects).map(([effect, { means, phase, event }]) => [effect, means, phase, event ?? 'none']),
      ),
      `The phase \`Pending\` means that nothing has begun, \`Paused\` and \`Deleting\` that the resource is. In place of Progressing, a control plane has the phase of the first of its children that is not Ready: ${phases.map((phase) => `\`${phase}\``).join(', ')}, in this order.`,
      table(
        ['Reason', 'Effect', 'Meaning', 'What to do'],
        Object.entries(reasons).map(([reason, facts]) => [
          `\`${reason}\``,
          facts.effect,
          facts.means,
          'remedy' in facts ? facts.remedy : patience(reason as Reason),
        ]),
      ),
    ]),
    page('events.md', 'Events', [
      'Events that the operator records on its resources: `kubectl events --for openstackcontrolplane/my-cloud`.',
      'When a resource turns Ready, or a condition turns True of which a Warning event told before, the reason of the event is the type of the condition, and its type is Normal. When a condition gets a reason whose [effect](conditions.md) has Warning events, the event has that reason. All other events:',
      table(
        ['Reason', 'Type', 'Action', 'Meaning'],
        Object.entries(eventReasons).map(([reason, { type, action, means }]) => [`\`${reason}\``, type, action, means]),
      ),
    ]),
  ];
}

/** What to do about what belongs to a rollout: nothing for some time. */
function patience(reason: Reason): string {
  const deadline = deadlines[reason];
  return deadline === undefined
    ? 'Nothing.'
    : `Nothing. After ${deadline.minutes} minutes without a change the reason is \`ProgressDeadlineExceeded\`.`;
}
