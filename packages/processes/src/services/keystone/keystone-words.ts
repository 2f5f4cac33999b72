import { commonWords, type FaultWords } from '../../model/fault.ts';

/** How Keystone words what it refuses. */
export const keystoneWords: FaultWords = {
  ...commonWords,
  notFound: (item, id) => `Could not find ${item.replaceAll('_', ' ')}: ${id}.`,
  conflict: (item, row) => {
    const { domain_id: domain } = row;
    const at = typeof domain === 'string' ? ` at domain ID ${domain}` : '';
    return `Conflict occurred attempting to store ${item} - Duplicate entry found with name ${String(row['name'] ?? row['id'])}${at}.`;
  },
  required: (item, column) =>
    `Invalid input for field '${item}': '${column}' is a required property\n\nFailed validating 'required' in schema`,
  forbidden: (rule) => `You are not authorized to perform the requested action: ${rule}.`,
};
