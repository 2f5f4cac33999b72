import { takeCourse } from './take-course.ts';

takeCourse('setup');
