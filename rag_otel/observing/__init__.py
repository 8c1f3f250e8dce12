"""What `@observe` is made of.

decorator   the decorator            plan           what to take out of every call of one function
selectors   paths and callables      shapes         what is found without
call        one call and its span    documents      chunks of any library, by shape
streams     calls that go on         transcript     what a stream has said so far
content     the span's attributes    call_snapshot  what is handed to evaluation
tracing     tracer, unsampled calls
session     who is asking, what was retrieved, remembered, said before
allowance   what one call may cost the caller
"""
