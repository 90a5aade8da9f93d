#ifndef ADIT_GRAMMAR_ABANDONED_H_
#define ADIT_GRAMMAR_ABANDONED_H_

namespace adit::grammar {

// Threads that were still compiling when their compiler ended, and were left to themselves: a program that has some
// ends without running what runs at its end (std::_Exit), since they use it. Any thread.
int NumAbandonedThreads();

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_ABANDONED_H_
